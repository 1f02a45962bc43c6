"""Model providers: the local embedder needs nothing; others are switched on by their keys."""

from config.settings.base import ENV

CAIRN_PROVIDERS = {
    "embedder": ENV["CAIRN_EMBEDDER"],
    "reranker": ENV["CAIRN_RERANKER"],
    "local_threads": ENV["CAIRN_EMBEDDER_THREADS"],
    "models_dir": ENV["CAIRN_MODELS"],
    "openai_base_url": ENV["CAIRN_OPENAI_BASE_URL"],
    "openai_api_key": ENV["CAIRN_OPENAI_API_KEY"],
    "openai_embedding_model": ENV["CAIRN_OPENAI_EMBEDDING_MODEL"],
    "openai_chat_model": ENV["CAIRN_OPENAI_CHAT_MODEL"],
    "openai_dimensions": ENV["CAIRN_OPENAI_DIMENSIONS"],
    "cohere_api_key": ENV["CAIRN_COHERE_API_KEY"],
    "cohere_base_url": ENV["CAIRN_COHERE_BASE_URL"],
}
EMBED_INLINE = ENV["CAIRN_EMBED_INLINE"]
KEEP_ACTIONS_DAYS = ENV["CAIRN_KEEP_ACTIONS_DAYS"]
KEEP_TURNS_DAYS = ENV["CAIRN_KEEP_TURNS_DAYS"]
CAIRN_MODEL_TOKENS_PER_MONTH = ENV["CAIRN_MODEL_TOKENS_PER_MONTH"]
CAIRN_MODEL_PRICES = ENV["CAIRN_MODEL_PRICES"]
