"""Static files under names that carry their content's hash, so that browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise is untyped
    """Also renames what ES modules import, so that a new page never runs an old module."""

    support_js_module_import_aggregation = True
