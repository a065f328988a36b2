"""What the environment must say, and what is said when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from basra_site.env import Env, NotConfigured

if TYPE_CHECKING:
    from pathlib import Path


def sentence(env: Env) -> str:
    with pytest.raises(NotConfigured) as stopped:
        env.finish()
    return str(stopped.value)


def test_everything_that_is_missing_is_named_in_one_sentence() -> None:
    env = Env({"WORKERS": "many", "DEBUG": "perhaps"})
    env.text("ALLOWED_HOSTS")
    env.secret("SECRET_KEY")
    env.integer("WORKERS", 2, least=1, most=8)
    env.boolean("DEBUG", default=False)
    said = sentence(env)
    assert "set ALLOWED_HOSTS;" in said
    assert "set SECRET_KEY, or SECRET_KEY_FILE to a file that holds it;" in said
    assert "set WORKERS to a whole number from 1 to 8;" in said
    assert 'set DEBUG to "yes" or "no".' in said


def test_a_complete_environment_starts() -> None:
    env = Env({"NAME": " Basra ", "COUNT": "3", "ON": "Yes", "LIST": "a, b,,c"})
    assert env.text("NAME") == "Basra"
    assert env.integer("COUNT", 1) == 3
    assert env.boolean("ON", default=False)
    assert env.words("LIST") == ["a", "b", "c"]
    env.finish()


def test_an_empty_variable_counts_as_unset() -> None:
    env = Env({"NAME": ""})
    assert env.text("NAME", "default") == "default"
    assert env.integer("COUNT", 7) == 7
    env.finish()


@pytest.mark.parametrize("value", ["-1", "9", "1.0", "٣", "1e1", "99999999999999999999", "0x1"])
def test_a_number_outside_its_limits_is_refused(value: str) -> None:
    env = Env({"COUNT": value})
    assert env.integer("COUNT", 1, least=1, most=8) == 1
    assert "set COUNT to a whole number from 1 to 8" in sentence(env)


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("open sesame\n")
    env = Env({"KEY_FILE": str(file)})
    assert env.secret("KEY") == "open sesame"
    env.finish()


def test_a_secret_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    env = Env({"KEY_FILE": str(tmp_path / "nothing")})
    env.secret("KEY")
    assert "KEY_FILE" in sentence(env)


def test_a_short_secret_is_refused_without_being_told() -> None:
    env = Env({"KEY": "sesame"})
    env.secret("KEY", least=50)
    said = sentence(env)
    assert "set KEY to at least 50 characters" in said
    assert "sesame" not in said


def test_the_environment_wins_over_its_file(tmp_path: Path) -> None:
    file = tmp_path / "basra.env"
    file.write_text("# a comment\n\nHERE=file\nTHERE=file=with=signs\n")
    env = Env({"BASRA_ENV_FILE": str(file), "HERE": "environment"})
    assert env.text("HERE") == "environment"
    assert env.text("THERE") == "file=with=signs"
    env.finish()


def test_a_line_of_the_file_that_is_no_setting_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "basra.env"
    file.write_text("GOOD=1\nnonsense\n")
    assert "line 2 of BASRA_ENV_FILE" in sentence(Env({"BASRA_ENV_FILE": str(file)}))
