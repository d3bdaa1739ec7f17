package catalogset

import "testing"

func TestListenersHearOfVisibleChangesOnly(t *testing.T) {
	s := New()
	heard := 0
	s.OnChange(func(Ref) { heard++ })
	a := Ref{Namespace: "olm", Name: "a"}
	steps := []struct {
		do   func()
		want int
		why  string
	}{
		{func() { s.Publish(a, Entry{}) }, 1, "a new catalog is news"},
		{func() { s.Publish(a, Entry{}) }, 1, "the same entry again is not"},
		{func() { s.Publish(a, Entry{Problem: "registry down"}) }, 2, "a problem is news"},
		{func() { s.Publish(a, Entry{}) }, 3, "its end too"},
		{func() { s.Withdraw(a) }, 4, "withdrawal is news"},
		{func() { s.Withdraw(a) }, 4, "withdrawing what is not there is not"},
	}
	for _, step := range steps {
		step.do()
		if heard != step.want {
			t.Fatalf("%s: heard %d changes, want %d", step.why, heard, step.want)
		}
	}
}

func TestGet(t *testing.T) {
	s := New()
	a := Ref{Namespace: "a", Name: "y"}
	if _, ok := s.Get(a); ok {
		t.Error("Get finds what was never published")
	}
	s.Publish(a, Entry{Problem: "p"})
	if e, ok := s.Get(a); !ok || e.Problem != "p" {
		t.Errorf("Get gave %+v, %t", e, ok)
	}
}

func TestRef(t *testing.T) {
	if got := (Ref{Namespace: "a", Name: "b"}).String() + " " + (Ref{Name: "c"}).String(); got != "a/b c" {
		t.Errorf("references read %q", got)
	}
	if (Ref{Namespace: "a", Name: "z"}).Compare(Ref{Namespace: "b", Name: "a"}) >= 0 || (Ref{Name: "a"}).Compare(Ref{Name: "a"}) != 0 {
		t.Error("references are ordered by namespace, then name")
	}
}
