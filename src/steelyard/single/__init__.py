"""The paper's own estimators for arrays: explicit and small, arrays in and a frozen result out."""
