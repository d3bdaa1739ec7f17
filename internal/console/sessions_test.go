package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestSessions end when they are idle, or old, and there are not more than there may be.
func TestSessions(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	s := newSessions(clock, 30*time.Minute, 12*time.Hour)
	pass := func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }
	user := &User{Name: "dev"}
	id := must.Value(s.begin(user))(t)
	if got := s.get(id); got == nil || got.user != user || s.get("") != nil || s.get(id+"x") != nil {
		t.Fatalf("the session is %v", got)
	}
	for range 23 {
		pass(29 * time.Minute)
		if s.get(id) == nil {
			t.Fatal("a session that is used has ended")
		}
	}
	for range 2 {
		pass(29 * time.Minute)
		s.get(id)
	}
	if s.get(id) != nil {
		t.Error("a session lasts for more than twelve hours")
	}
	id = must.Value(s.begin(user))(t)
	done, ok := s.get(id).stream()
	must.Equal(t, "a stream", ok, true)
	pass(31 * time.Minute)
	if s.get(id) == nil {
		t.Error("a session with an open page has ended")
	}
	done()
	pass(31 * time.Minute)
	if s.get(id) != nil {
		t.Error("an idle session has not ended")
	}
	id = must.Value(s.begin(user))(t)
	s.end(id)
	if s.get(id) != nil {
		t.Error("a session that was ended is there")
	}
	for range maxSessions {
		must.Value(s.begin(user))(t)
	}
	_, err := s.begin(user)
	must.Fail(t, "one more", err, "there are too many")
	pass(31 * time.Minute)
	must.Value(s.begin(user))(t)
	must.Equal(t, "those that are over are gone", len(s.all), 1)
}

// TestStreamsOfASession are bounded.
func TestStreamsOfASession(t *testing.T) {
	s := &session{}
	var all []func()
	for range maxStreams {
		done, ok := s.stream()
		must.Equal(t, "a stream", ok, true)
		all = append(all, done)
	}
	if _, ok := s.stream(); ok {
		t.Error("there is one more")
	}
	all[0]()
	if _, ok := s.stream(); !ok {
		t.Error("one that has ended still counts")
	}
}

// TestFormTokens are of one session, and never the same text twice.
func TestFormTokens(t *testing.T) {
	mine, other := &session{csrf: secret()}, &session{csrf: secret()}
	token := mine.formToken()
	if token == mine.formToken() {
		t.Error("two pages have the same token")
	}
	for name, test := range map[string]struct {
		token string
		want  bool
	}{
		"mine":         {token, true},
		"another page": {mine.formToken(), true},
		"another's":    {other.formToken(), false},
		"none":         {"", false},
		"cut":          {token[:len(token)-2], false},
		"no base64":    {"<script>", false},
		"zeros":        {strings.Repeat("A", len(token)), false},
	} {
		must.Equal(t, name, mine.made(test.token), test.want)
	}
}

// TestOneTime: an address lets one browser in, and then no one any more.
func TestOneTime(t *testing.T) {
	user := &User{Name: "dev"}
	o := NewOneTime(user)
	enter := func(method, address string) (*User, int) {
		w := httptest.NewRecorder()
		return o.Enter(w, httptest.NewRequest(method, address, nil)), w.Code
	}
	if got, code := enter("GET", "/?token="); got != nil || code != http.StatusUnauthorized {
		t.Errorf("before there is an address: %v, %d", got, code)
	}
	first := o.Query()
	second := o.Query()
	for name, address := range map[string]string{"an address that was replaced": first, "no token": "/", "another page": strings.Replace(second, "/?", "/catalog?", 1), "another token": second[:len(second)-1] + "!"} {
		if got, code := enter("GET", address); got != nil || code != http.StatusUnauthorized {
			t.Errorf("%s: %v, %d", name, got, code)
		}
	}
	if got, _ := enter("POST", second); got != nil {
		t.Error("a write lets in")
	}
	if got, _ := enter("GET", second); got != user {
		t.Errorf("the address lets in %v", got)
	}
	if got, code := enter("GET", second); got != nil || code != http.StatusUnauthorized {
		t.Errorf("who has found it afterwards: %v, %d", got, code)
	}
}
