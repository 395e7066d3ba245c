//! Least-squares lines.

/// A point of a curve; x is the natural logarithm of the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurvePoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The least-squares line through some points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    centroid: CurvePoint,
    pub(super) slope: f64,
    /// Sum of the squared residuals.
    pub(super) error: f64,
}

impl Line {
    /// Fits a line; `None` for fewer than two different x.
    pub(super) fn fit(points: &[CurvePoint]) -> Option<Self> {
        let middle = centroid(points)?;
        let squares: f64 = points.iter().map(|p| (p.x - middle.x).powi(2)).sum();
        let products: f64 = points.iter().map(|p| (p.x - middle.x) * (p.y - middle.y)).sum();
        let slope = products / squares;
        if !slope.is_finite() {
            return None;
        }
        let line = Self { centroid: middle, slope, error: 0.0 };
        let error = points.iter().map(|p| (p.y - line.at(p.x)).powi(2)).sum();
        Some(Self { error, ..line })
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.centroid.y + self.slope * (x - self.centroid.x)
    }

    /// x at which both lines meet; not finite if they are parallel.
    pub(super) fn intersection(&self, other: &Self) -> f64 {
        let from = self.centroid.x;
        from + (other.at(from) - self.centroid.y) / (self.slope - other.slope)
    }
}

/// Point of the mean x and the mean y. `None` for no points.
#[allow(clippy::cast_precision_loss, reason = "a number of levels")]
pub(super) fn centroid(points: &[CurvePoint]) -> Option<CurvePoint> {
    let first = *points.first()?;
    // Relative to the first point, so that a horizontal line has a slope of exactly 0.
    let mean = |of: fn(&CurvePoint) -> f64| {
        let from_first = points.iter().map(|point| of(point) - of(&first));
        of(&first) + from_first.sum::<f64>() / points.len() as f64
    };
    Some(CurvePoint { x: mean(|p| p.x), y: mean(|p| p.y) })
}
