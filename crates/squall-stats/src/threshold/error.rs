//! Why a text is no threshold.

/// Why a text is no threshold, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// Nothing compares a metric with a value.
    #[error("`{text}` has no operator; write a metric, one of > >= < <= and a value: p99 > 20ms")]
    NoOperator {
        /// What was written.
        text: String,
    },
    /// A comparison that would hold by chance only, or none at all.
    #[error("`{operator}` is no operator; write one of > >= < <=")]
    UnknownOperator {
        /// What was written.
        operator: String,
    },
    /// No number of a run has this name.
    #[error("`{metric}` is no metric; there are {known}")]
    UnknownMetric {
        /// What was written.
        metric: String,
        /// The metrics that there are.
        known: &'static str,
    },
    /// A value that does not fit its metric.
    #[error("`{value}` is no value for {metric}; write {expected}")]
    BadValue {
        /// The metric, normalised.
        metric: String,
        /// What was written.
        value: String,
        /// What would fit.
        expected: &'static str,
    },
}
