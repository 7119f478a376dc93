"""A program that uses the package of the quickstart; mypy checks it, and nothing runs it."""

from toolsrv_catalog import CallContext, ToolError, connect, load_tools
from toolsrv_catalog.models import SearchMoviesArguments, SearchMoviesRow


def titles(text: str) -> list[str | None]:
    with connect(env={"MOVIES_DB": "movies.db"}) as catalog:
        try:
            result = catalog.tools.search_movies(query=text, genre=["Comedy", "Drama"], min_rating=7, limit=5)
        except ToolError as error:
            raise SystemExit(error.message) from error
        row: SearchMoviesRow = result.rows[0]
        rating: float | None = row.imdb_rating
        genre: str | None = row.major_genre
        total: int = catalog.tools.count_movies(context=CallContext(principal="ada", deadline_s=2)).count
        print(rating, genre, total)
        return [each.major_genre for each in result.rows]


async def awaited() -> int:
    async with connect(url="https://films.example.com", token="token") as catalog:
        return (await catalog.aio.count_movies(mpaa_rating=["PG-13"])).count


ARGUMENTS = SearchMoviesArguments(query="space", genre=["Comedy"])
TOOLS = load_tools("tools.yaml", env_file=".env")
