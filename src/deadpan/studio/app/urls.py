"""The addresses of the studio."""

from __future__ import annotations

from django.urls import path
from django.views.i18n import set_language

from deadpan.studio.app.views import (
    accounts,
    adjudicate,
    arrival,
    errors,
    joining,
    making,
    owner,
    pages,
    steer,
    survey,
    trying,
    work,
)

urlpatterns = [
    path("", pages.home, name="home"),
    path("look.css", pages.look, name="look"),
    path("language", set_language, name="language"),
    path("login", accounts.Enter.as_view(), name="login"),
    path("logout", accounts.leave, name="logout"),
    path("start/<str:token>", accounts.start, name="start"),
    path("join/<str:token>", joining.join, name="join"),
    path("return/<str:token>", accounts.come_back, name="return"),
    path("account", accounts.account, name="account"),
    path("account/password", accounts.ChangePassword.as_view(), name="password"),
    path("reset/<str:token>", steer.reset, name="reset"),
    path("new", making.new, name="new"),
    path("new/columns", making.columns, name="columns"),
    path("try/<slug:slug>", trying.try_ten, name="try"),
    path("withdraw", pages.withdrawal, name="withdraw"),
    path("s/<slug:slug>/", arrival.arrive, name="study"),
    path("s/<slug:slug>/consent", arrival.agree, name="consent"),
    path("s/<slug:slug>/guideline", arrival.guideline, name="guideline"),
    path("s/<slug:slug>/undo", work.undo_last, name="undo"),
    path("s/<slug:slug>/next", work.forward, name="next"),
    path("s/<slug:slug>/ahead", work.ahead, name="ahead"),
    path("s/<slug:slug>/answers", work.answers, name="answers"),
    path("s/<slug:slug>/time", arrival.spent, name="time"),
    path("s/<slug:slug>/item/<int:number>", work.item, name="item"),
    path("s/<slug:slug>/item/<int:number>/save", work.store, name="save"),
    path("s/<slug:slug>/item/<int:number>/skip", work.skip, name="skip"),
    path("s/<slug:slug>/item/<int:number>/flag", work.flag, name="flag"),
    path("s/<slug:slug>/survey", survey.fill, name="survey"),
    path("s/<slug:slug>/thanks", survey.thanks, name="thanks"),
    path("s/<slug:slug>/dashboard", owner.dashboard, name="dashboard"),
    path("s/<slug:slug>/dashboard/live", owner.live, name="live"),
    path("s/<slug:slug>/stage", steer.stage, name="stage"),
    path("s/<slug:slug>/settings", steer.settings, name="settings"),
    path("s/<slug:slug>/people", steer.people, name="people"),
    path("s/<slug:slug>/member/<int:pk>", steer.change_member, name="member"),
    path("s/<slug:slug>/invite", steer.invite, name="invite"),
    path("s/<slug:slug>/invite/<int:pk>", steer.change_invite, name="change_invite"),
    path("s/<slug:slug>/items", making.more_items, name="more_items"),
    path("s/<slug:slug>/preview", making.preview, name="preview"),
    path("s/<slug:slug>/download/<slug:what>", steer.download, name="download"),
    path("s/<slug:slug>/release", steer.release, name="release"),
    path("s/<slug:slug>/log", steer.audit, name="log"),
    path("s/<slug:slug>/flags", owner.flags, name="flags"),
    path("s/<slug:slug>/decide", owner.decide_applicant, name="decide"),
    path("s/<slug:slug>/adjudicate", adjudicate.queue, name="adjudicate"),
    path("s/<slug:slug>/adjudicate/<int:pk>/<slug:question>", adjudicate.case, name="case"),
]
handler404 = errors.not_found
handler403 = errors.forbidden
handler400 = errors.bad
handler500 = errors.broken
