"""The addresses of the studio."""

from __future__ import annotations

from django.urls import path
from django.views.i18n import set_language

from deadpan.studio.app import accounts, builder, leader, security, work

urlpatterns = [
    path("", accounts.home, name="home"),
    path("look.css", accounts.style_sheet, name="look"),
    path("language", set_language, name="language"),
    path("login", accounts.Login.as_view(), name="login"),
    path("logout", accounts.log_out, name="logout"),
    path("start/<str:token>", accounts.start, name="start"),
    path("join/<str:token>", accounts.join, name="join"),
    path("return/<str:token>", accounts.return_guest, name="return"),
    path("account", accounts.account_page, name="account"),
    path("account/password", accounts.ChangePassword.as_view(), name="password"),
    path("reset/<str:token>", leader.reset, name="reset"),
    path("new", leader.new, name="new"),
    path("new/columns", leader.columns, name="columns"),
    path("try/<slug:slug>", work.try_ten, name="try"),
    path("withdraw", accounts.withdrawal, name="withdraw"),
    path("s/<slug:slug>/", work.next_step, name="study"),
    path("s/<slug:slug>/consent", work.consent_page, name="consent"),
    path("s/<slug:slug>/about", work.about_page, name="about"),
    path("s/<slug:slug>/guideline", work.guideline, name="guideline"),
    path("s/<slug:slug>/undo", work.undo_last, name="undo"),
    path("s/<slug:slug>/next", work.next_item, name="next"),
    path("s/<slug:slug>/ahead", work.ahead, name="ahead"),
    path("s/<slug:slug>/answers", work.answers, name="answers"),
    path("s/<slug:slug>/time", work.count_page_time, name="time"),
    path("s/<slug:slug>/item/<int:number>", work.item, name="item"),
    path("s/<slug:slug>/item/<int:number>/save", work.save_item, name="save"),
    path("s/<slug:slug>/item/<int:number>/skip", work.skip, name="skip"),
    path("s/<slug:slug>/item/<int:number>/flag", work.flag, name="flag"),
    path("s/<slug:slug>/survey", work.fill_survey, name="survey"),
    path("s/<slug:slug>/thanks", work.thanks, name="thanks"),
    path("s/<slug:slug>/dashboard", leader.dashboard, name="dashboard"),
    path("s/<slug:slug>/dashboard/live", leader.live_figures, name="live"),
    path("s/<slug:slug>/stage", leader.stage, name="stage"),
    path("s/<slug:slug>/settings", leader.settings, name="settings"),
    path("s/<slug:slug>/questions", builder.questions_page, name="questions"),
    path("s/<slug:slug>/people", leader.people_page, name="people"),
    path("s/<slug:slug>/member/<int:pk>", leader.change_member, name="member"),
    path("s/<slug:slug>/invite", leader.invite_page, name="invite"),
    path("s/<slug:slug>/invite/<int:pk>", leader.change_invite, name="change_invite"),
    path("s/<slug:slug>/items", leader.more_items, name="more_items"),
    path("s/<slug:slug>/preview", leader.preview, name="preview"),
    path("s/<slug:slug>/download/<slug:what>", leader.download, name="download"),
    path("s/<slug:slug>/release", leader.release_page, name="release"),
    path("s/<slug:slug>/log", leader.log_page, name="log"),
    path("s/<slug:slug>/flags", leader.flags, name="flags"),
    path("s/<slug:slug>/decide", leader.decide_applicant, name="decide"),
    path("s/<slug:slug>/adjudicate", leader.queue, name="adjudicate"),
    path("s/<slug:slug>/adjudicate/<int:pk>/<slug:question>", leader.case, name="case"),
]
handler404 = security.not_found
handler403 = security.forbidden
handler400 = security.bad_request
handler500 = security.server_error
