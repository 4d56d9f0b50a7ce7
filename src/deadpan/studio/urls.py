"""Every address of the studio."""

from __future__ import annotations

from django.urls import path

from deadpan.studio.views import adjudicate, door, mishap, owner, pages, survey, work

urlpatterns = [
    path("", pages.home, name="home"),
    path("look.css", pages.look, name="look"),
    path("language", pages.language, name="language"),
    path("login", door.enter, name="login"),
    path("logout", door.leave, name="logout"),
    path("start/<str:token>", door.start, name="start"),
    path("join/<str:token>", door.join, name="join"),
    path("withdraw", pages.withdrawal, name="withdraw"),
    path("s/<slug:slug>/", work.arrive, name="study"),
    path("s/<slug:slug>/consent", work.agree, name="consent"),
    path("s/<slug:slug>/guideline", work.guideline, name="guideline"),
    path("s/<slug:slug>/undo", work.take_back, name="undo"),
    path("s/<slug:slug>/next", work.forward, name="next"),
    path("s/<slug:slug>/item/<int:number>", work.item, name="item"),
    path("s/<slug:slug>/item/<int:number>/save", work.store, name="save"),
    path("s/<slug:slug>/survey", survey.fill, name="survey"),
    path("s/<slug:slug>/thanks", survey.thanks, name="thanks"),
    path("s/<slug:slug>/dashboard", owner.dashboard, name="dashboard"),
    path("s/<slug:slug>/dashboard/live", owner.live, name="live"),
    path("s/<slug:slug>/invite", owner.invite, name="invite"),
    path("s/<slug:slug>/decide", owner.decide_applicant, name="decide"),
    path("s/<slug:slug>/adjudicate", adjudicate.queue, name="adjudicate"),
    path("s/<slug:slug>/adjudicate/<int:pk>/<slug:question>", adjudicate.case, name="case"),
]
handler404 = mishap.not_found
handler403 = mishap.forbidden
handler400 = mishap.bad
handler500 = mishap.broken
