//! Why a run ended.
