package resolution

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestRecordFitsItsBounds(t *testing.T) {
	long := strings.Repeat("long ", 200)
	full := NamespaceRecord{Namespace: "ns", Catalogs: []RecordedSource{{Name: "ns/cat", Digest: "sha256:1"}}, Requests: []RecordedRequest{}, Outcome: NamespaceOutcome{Conflict: "none"}}
	many := func(change func(r *NamespaceRecord, i int)) NamespaceRecord {
		r := full
		for i := range 100 {
			change(&r, i)
		}
		return r
	}
	held := func(r *NamespaceRecord, i int) { r.Outcome.Held = append(r.Outcome.Held, fmt.Sprint(i, long)) }
	installed := func(r *NamespaceRecord, i int) {
		r.Installed = append(r.Installed, RecordedOperator{Name: fmt.Sprint(i, long)})
	}
	requests := func(r *NamespaceRecord, i int) {
		r.Requests = append(r.Requests, RecordedRequest{Name: fmt.Sprint(i, long)})
	}
	for name, tc := range map[string]struct {
		record  NamespaceRecord
		omitted []string
		again   bool // whether it can be decided again
	}{
		"little":            {full, nil, true},
		"much is held back": {many(held), []string{"outcome.held"}, true},
		"much is installed": {many(installed), []string{"outcome.held", "installed"}, false},
		"much is asked for": {many(requests), []string{"outcome.held", "installed", "requests"}, false},
		"many catalogs are in view": {many(func(r *NamespaceRecord, i int) {
			r.Catalogs = append(r.Catalogs, RecordedSource{Name: fmt.Sprint(i, long)})
		}), []string{"outcome.held", "installed", "requests", "catalogs"}, false},
		"much is to be installed": {many(func(r *NamespaceRecord, i int) {
			r.Outcome.Install = append(r.Outcome.Install, Install{Name: fmt.Sprint(i, long)})
		}), []string{"outcome.held", "installed", "requests", "catalogs", "outcome"}, false},
		"much is held back and asked for": {many(func(r *NamespaceRecord, i int) { held(r, i); requests(r, i) }), []string{"outcome.held", "installed", "requests"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 8 << 10
			before, _ := json.Marshal(tc.record)
			text, err := tc.record.Text(most)
			if err != nil || len(text) > most {
				t.Fatalf("%d bytes, %v", len(text), err)
			}
			var read NamespaceRecord
			must.NoError(t, json.Unmarshal([]byte(text), &read))
			if !slices.Equal(read.Omitted, tc.omitted) {
				t.Errorf("left out is %q, want %q", read.Omitted, tc.omitted)
			}
			if after, _ := json.Marshal(tc.record); string(after) != string(before) {
				t.Error("the record itself was changed")
			}
			_, err = read.Replay(t.Context(), func(string, string) (*catalog.Index, error) { return nil, errors.New("asked for") })
			if asked := err != nil && strings.Contains(err.Error(), "asked for"); asked != tc.again {
				t.Errorf("decided again: %v", err)
			}
		})
	}
	if text, err := full.Text(10); err == nil {
		t.Errorf("in 10 bytes: %s", text)
	}
}
