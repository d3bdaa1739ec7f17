package serving

import (
	"encoding/pem"
	"testing"
	"time"
)

func TestMerge(t *testing.T) {
	one, two, old := issue(t, Request{}), issue(t, Request{}), issue(t, Request{Now: start.Add(-2 * DefaultLife)})
	junk := append([]byte("junk"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("junk")})...)
	all := string(one.CABundle) + string(two.CABundle)
	if got := string(Merge(start, 5, junk, one.CABundle, nil, two.CABundle, old.CABundle, one.CABundle)); got != all {
		t.Errorf("got %s, want only\n%s", got, all)
	}
	if got := string(Merge(start, 1, two.CABundle, one.CABundle)); got != string(two.CABundle) {
		t.Errorf("got %s, want the first\n%s", got, two.CABundle)
	}
	if got := Merge(start.Add(DefaultLife+time.Hour), 5, one.CABundle); len(got) != 0 {
		t.Errorf("got %s, which has expired", got)
	}
}

func TestSort(t *testing.T) {
	one, two := issue(t, Request{}).CABundle, issue(t, Request{}).CABundle
	if a, b := string(Sort(append(one, two...))), string(Sort(append(two, one...))); a != b || len(a) != len(one)+len(two) {
		t.Errorf("got\n%s and\n%s", a, b)
	}
}
