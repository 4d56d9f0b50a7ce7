"""The addresses of the studio."""

from __future__ import annotations

from django.urls import path
from django.views.i18n import set_language

from deadpan.studio.app import accounts, leader, security, work

urlpatterns = [
    path("", accounts.home, name="home"),
    path("look.css", accounts.look, name="look"),
    path("language", set_language, name="language"),
    path("login", accounts.Enter.as_view(), name="login"),
    path("logout", accounts.leave, name="logout"),
    path("start/<str:token>", accounts.start, name="start"),
    path("join/<str:token>", accounts.join, name="join"),
    path("return/<str:token>", accounts.come_back, name="return"),
    path("account", accounts.account, name="account"),
    path("account/password", accounts.ChangePassword.as_view(), name="password"),
    path("reset/<str:token>", leader.reset, name="reset"),
    path("new", leader.new, name="new"),
    path("new/columns", leader.columns, name="columns"),
    path("try/<slug:slug>", work.try_ten, name="try"),
    path("withdraw", accounts.withdrawal, name="withdraw"),
    path("s/<slug:slug>/", work.arrive, name="study"),
    path("s/<slug:slug>/consent", work.agree, name="consent"),
    path("s/<slug:slug>/guideline", work.guideline, name="guideline"),
    path("s/<slug:slug>/undo", work.undo_last, name="undo"),
    path("s/<slug:slug>/next", work.forward, name="next"),
    path("s/<slug:slug>/ahead", work.ahead, name="ahead"),
    path("s/<slug:slug>/answers", work.answers, name="answers"),
    path("s/<slug:slug>/time", work.spent, name="time"),
    path("s/<slug:slug>/item/<int:number>", work.item, name="item"),
    path("s/<slug:slug>/item/<int:number>/save", work.store, name="save"),
    path("s/<slug:slug>/item/<int:number>/skip", work.skip, name="skip"),
    path("s/<slug:slug>/item/<int:number>/flag", work.flag, name="flag"),
    path("s/<slug:slug>/survey", work.fill, name="survey"),
    path("s/<slug:slug>/thanks", work.thanks, name="thanks"),
    path("s/<slug:slug>/dashboard", leader.dashboard, name="dashboard"),
    path("s/<slug:slug>/dashboard/live", leader.live, name="live"),
    path("s/<slug:slug>/stage", leader.stage, name="stage"),
    path("s/<slug:slug>/settings", leader.settings, name="settings"),
    path("s/<slug:slug>/people", leader.people, name="people"),
    path("s/<slug:slug>/member/<int:pk>", leader.change_member, name="member"),
    path("s/<slug:slug>/invite", leader.invite, name="invite"),
    path("s/<slug:slug>/invite/<int:pk>", leader.change_invite, name="change_invite"),
    path("s/<slug:slug>/items", leader.more_items, name="more_items"),
    path("s/<slug:slug>/preview", leader.preview, name="preview"),
    path("s/<slug:slug>/download/<slug:what>", leader.download, name="download"),
    path("s/<slug:slug>/release", leader.release, name="release"),
    path("s/<slug:slug>/log", leader.audit, name="log"),
    path("s/<slug:slug>/flags", leader.flags, name="flags"),
    path("s/<slug:slug>/decide", leader.decide_applicant, name="decide"),
    path("s/<slug:slug>/adjudicate", leader.queue, name="adjudicate"),
    path("s/<slug:slug>/adjudicate/<int:pk>/<slug:question>", leader.case, name="case"),
]
handler404 = security.not_found
handler403 = security.forbidden
handler400 = security.bad
handler500 = security.broken
