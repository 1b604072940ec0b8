"""A dialect: how queries are put to an engine that plans constants better than VALUES, and takes but ten branches."""

from fedkg.config.dialects import Dialect

DIALECT = Dialect("tinystore", inline=True, branches=10)
