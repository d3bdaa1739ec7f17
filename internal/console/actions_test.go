package console

import (
	"context"
	"net/http/httptest"
	"testing"
)

// TestActionsAreDone: a browser that leaves before the answer does not end what it has asked for.
func TestActionsAreDone(t *testing.T) {
	v := newTour(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	ended := false
	r := httptest.NewRequest("POST", "/do", nil).WithContext(context.WithValue(ctx, sessionKey{}, v.console.sessions.get(v.cookie.Value)))
	r.PostForm = map[string][]string{formKey: {v.console.sessions.get(v.cookie.Value).formToken()}}
	v.console.act(action{path: "/do", do: func(ctx context.Context, _ *query) (done, error) {
		leave()
		ended = ctx.Err() != nil
		return done{}, nil
	}})(httptest.NewRecorder(), r)
	if ended {
		t.Error("the action was ended by the browser")
	}
}

// TestLocal: no form leads out of the console.
func TestLocal(t *testing.T) {
	for to, want := range map[string]string{
		"/installed?namespace=shop": "/installed?namespace=shop", "/": "/", "": "/", "installed": "/",
		"https://evil.example.com/": "/", "//evil.example.com": "/", `/\evil.example.com`: "/", "javascript:alert(1)": "/", "/a%00b": "/a%00b", "/\x00": "/", "http:/installed": "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

// TestAddressOfAPage: a parameter of an address is changed, and the others are kept.
func TestAddressOfAPage(t *testing.T) {
	for _, test := range []struct{ of, key, value, want string }{
		{"/catalog?q=a+b&page=2", "page", "3", "/catalog?page=3&q=a+b"},
		{"/catalog?page=2", "page", "", "/catalog"},
		{"/catalog", "namespace", "a&b=c", "/catalog?namespace=a%26b%3Dc"},
	} {
		if got := address(test.of, test.key, test.value); got != test.want {
			t.Errorf("%s with %s=%s is %s, want %s", test.of, test.key, test.value, got, test.want)
		}
	}
	got := kept("/catalog?q=kafka&namespace=shop&page=2&category=a&category=b", "namespace")
	if len(got) != 3 || got[0] != (parameter{"category", "a"}) || got[2] != (parameter{"q", "kafka"}) {
		t.Errorf("kept %v", got)
	}
}

// TestNotices: what came of an action is shown on the page that the browser goes to, not to a script that brings another page up to date meanwhile.
func TestNotices(t *testing.T) {
	s := &session{}
	s.say("approved")
	r := httptest.NewRequest("GET", "/installed", nil)
	for _, visit := range []struct{ mode, want string }{{"same-origin", ""}, {"cors", ""}, {"navigate", "approved"}, {"navigate", ""}} {
		r.Header.Set("Sec-Fetch-Mode", visit.mode)
		if got := noticeOf(r, s); got != visit.want {
			t.Errorf("%s is shown %q, want %q", visit.mode, got, visit.want)
		}
	}
	s.say("approved")
	r.Header.Del("Sec-Fetch-Mode") // an older browser
	if got := noticeOf(r, s); got != "approved" {
		t.Errorf("an older browser is shown %q", got)
	}
}
