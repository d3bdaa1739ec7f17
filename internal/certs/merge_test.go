package certs

import (
	"encoding/pem"
	"testing"
	"time"
)

func TestMerge(t *testing.T) {
	one, two, old := issue(t, Request{}), issue(t, Request{}), issue(t, Request{Now: start.Add(-2 * DefaultLife)})
	junk := append([]byte("junk"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("junk")})...)
	all := string(one.Authorities) + string(two.Authorities)
	if got := string(Merge(start, 5, junk, one.Authorities, nil, two.Authorities, old.Authorities, one.Authorities)); got != all {
		t.Errorf("got %s, want only\n%s", got, all)
	}
	if got := string(Merge(start, 1, two.Authorities, one.Authorities)); got != string(two.Authorities) {
		t.Errorf("got %s, want the first\n%s", got, two.Authorities)
	}
	if got := Merge(start.Add(DefaultLife+time.Hour), 5, one.Authorities); len(got) != 0 {
		t.Errorf("got %s, which has expired", got)
	}
}

func TestSort(t *testing.T) {
	one, two := issue(t, Request{}).Authorities, issue(t, Request{}).Authorities
	if a, b := string(Sort(append(one, two...))), string(Sort(append(two, one...))); a != b || len(a) != len(one)+len(two) {
		t.Errorf("got\n%s and\n%s", a, b)
	}
}
