"""Caches and shared keys."""

CHAPTER = "05_kv_cache"

ORDER = (
    "extend_cache",
    "cached_attention",
    "kv_cache_bytes",
    "grouped_query_attention",
    "pool_kv_heads",
    "grouped_query_module",
)
