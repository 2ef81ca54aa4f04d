"""Features that commands read: scaled, with missing values filled or their samples left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita.cli._messages import Messages
from partita.cli._options import Impute
from partita.cli._tables import Source

if TYPE_CHECKING:
    from partita.io import Table

__all__ = ["FeatureReader"]


@dataclass(frozen=True)
class FeatureReader:
    """How features are prepared: the options of commands with these names."""

    messages: Messages
    scale: str = "auto"
    impute: Impute | None = None
    drop_missing: bool = False
    use: str | None = None
    decimal: str = "."

    def read(self, source: Source) -> tuple[Table, Any]:
        """Return the table and its matrix; all values of a sample that is left out are NaN."""
        import numpy as np

        from partita.generators import make_scaler

        if self.impute is not None and self.drop_missing:
            raise ValueError("--impute and --drop-missing exclude each other; choose one.")
        allow = self.drop_missing or self.impute is not None
        table = source.features(self.use, allow_missing=allow, decimal=self.decimal)
        X = table.matrix()
        is_missing = np.isnan(X)
        if is_missing.any() and self.impute is not None:
            X = self._filled(X, is_missing, table)
        complete = ~np.isnan(X).any(axis=1)
        if not complete.all():
            n_dropped = len(X) - int(complete.sum())
            self.messages.show(
                f"{table.source}: {n_dropped} samples with a missing feature get no labels"
            )
            X[~complete] = np.nan
        if not complete.any():
            raise ValueError(
                f"{table.source}: every sample has a missing feature. Fill them with --impute "
                "median, or choose the --columns that have values."
            )
        is_matrix = source.path.endswith(".h5ad") and source.columns is None
        scale = "none" if self.scale == "auto" and is_matrix else self.scale  # one unit
        if (scaler := make_scaler(X[complete], scale)) is not None:
            X[complete] = scaler.transform(X[complete])
            self.messages.show(
                f"{table.source}: standardized the features; --scale none uses them as they are"
            )
        return table, X

    def _filled(self, X: Any, is_missing: Any, table: Table) -> Any:
        from sklearn.impute import SimpleImputer

        strategy = str(self.impute)
        if (empty := is_missing.all(axis=0)).any():
            name = list(table.columns)[int(empty.argmax())]
            raise ValueError(
                f"{table.source}: column {name!r} has no value, so that it has no {strategy}. "
                "Leave it out with --columns."
            )
        self.messages.show(
            f"{table.source}: filled {int(is_missing.sum())} missing values of "
            f"{int(is_missing.any(axis=1).sum())} samples with the {strategy} of their column"
        )
        return SimpleImputer(strategy=strategy).fit_transform(X)
