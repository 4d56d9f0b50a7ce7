"""Mutants of a module: one copy of its code that holds every mutant, of which one is switched on at a time.

Each comparison, operator and constant becomes `mutated if active(N) else original`. The module is compiled
and imported once for all its mutants, so that a mutant costs a fork and the tests that reach it.
"""

from __future__ import annotations

import ast
import copy
import warnings
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

SWITCH = "_is_active_mutant"
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change of one expression; `on_import` if it is evaluated when the module is imported."""

    number: int
    name: str
    on_import: bool


class Switch:
    """The mutant that is switched on, and the mutants that were reached since the last look."""

    def __init__(self) -> None:
        self.active = -1
        self.reached: set[int] = set()

    def __call__(self, number: int) -> bool:
        self.reached.add(number)
        return number == self.active


class Weaver(ast.NodeTransformer):
    """Puts every mutant of a module into its syntax tree and lists them."""

    def __init__(self, module: str, text: str) -> None:
        self.module, self.lines = module, text.splitlines()
        self.mutants: list[Mutant] = []
        self.functions: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Defaults and decorators run on import, the body when the function is called."""
        node.args.defaults = [self.visit(value) for value in node.args.defaults]
        node.args.kw_defaults = [value and self.visit(value) for value in node.args.kw_defaults]
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        self.functions.append(node.name)
        node.body = [self.visit(one) for one in node.body]
        self.functions.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Decorators of classes (frozen, slots) declare and compute nothing."""
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """`strict=True` of zip is an assertion: no input reaches its other side."""
        return node if node.arg == "strict" else self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """A pattern takes no expression."""
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        changed = copy.deepcopy(node)
        changed.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[call-overload]
        return self.woven(node, changed)

    def visit_BinOp(self, node: ast.BinOp | ast.BoolOp) -> ast.AST:
        if type(node.op) not in SWAPS:
            return self.generic_visit(node)
        changed = copy.deepcopy(node)
        changed.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        return self.woven(node, changed)

    visit_BoolOp = visit_BinOp

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return self.woven(node, ast.Constant(not node.value))
        if isinstance(node.value, int | float):
            return self.woven(node, ast.Constant(node.value + 1))
        return node

    def woven(self, node: ast.expr, changed: ast.expr) -> ast.AST:
        """Return a choice between an expression and its mutant."""
        number = len(self.mutants)
        place = ".".join(self.functions) or "import"
        line = self.lines[node.lineno - 1].strip()
        name = f"{self.module} {place}: {ast.unparse(node)} -> {ast.unparse(changed)}  | {line}"
        self.mutants.append(Mutant(number, name, not self.functions))
        asked = ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(ast.IfExp(asked, changed, self.generic_visit(node)), node)  # type: ignore[arg-type]


def weave(module: str, text: str) -> tuple[ast.Module, list[Mutant]]:
    """Return a module with all its mutants in it, and their list."""
    weaver = Weaver(module, text)
    tree = weaver.visit(ast.parse(text))
    return ast.fix_missing_locations(tree), weaver.mutants


class WovenLoader(SourceFileLoader):
    """Loads a module with its mutants in it."""

    def __init__(self, name: str, path: str, tree: ast.Module, switch: Switch) -> None:
        super().__init__(name, path)
        self.tree, self.switch = tree, switch

    def get_code(self, fullname: str) -> CodeType:
        """Compile the woven tree; nothing is read from or written to a cache."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return compile(self.tree, self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its switch, then run it."""
        module.__dict__[SWITCH] = self.switch
        super().exec_module(module)


class WovenFinder(MetaPathFinder):
    """Finds one module of deadpan in its woven form; the others as they are."""

    def __init__(self, source: Path, module: str, tree: ast.Module, switch: Switch) -> None:
        path = Path(module).with_suffix("")
        self.name = ".".join(("deadpan", *path.parts)).removesuffix(".__init__")
        self.path, self.tree, self.switch = source / "deadpan" / module, tree, switch

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of the woven module."""
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None:
            spec.loader = WovenLoader(fullname, str(self.path), self.tree, self.switch)
        return spec
