package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestAddress(t *testing.T) {
	service := &RegistryServiceStatus{ServiceName: "a", ServiceNamespace: "b", Port: "50051"}
	for name, tc := range map[string]struct {
		source CatalogSource
		want   string
	}{
		"of the spec":      {CatalogSource{Spec: CatalogSourceSpec{Address: "host:1"}, Status: CatalogSourceStatus{RegistryServiceStatus: service}}, "host:1"},
		"of the Service":   {CatalogSource{Status: CatalogSourceStatus{RegistryServiceStatus: service}}, "a.b.svc:50051"},
		"not known so far": {CatalogSource{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "Address", tc.source.Address(), tc.want)
		})
	}
}

func TestRegistryPoll(t *testing.T) {
	for name, tc := range map[string]struct {
		in       string
		interval time.Duration
		problem  string
		out      string
	}{
		"interval":      {`{"interval":"10m"}`, 10 * time.Minute, "", `{"interval":"10m"}`},
		"compound":      {`{"interval":"1h30m"}`, 90 * time.Minute, "", `{"interval":"1h30m"}`},
		"bad interval":  {`{"interval":"often"}`, 15 * time.Minute, `"often"`, `{"interval":"often"}`},
		"no unit":       {`{"interval":"10"}`, 15 * time.Minute, `"10"`, `{"interval":"10"}`},
		"nothing":       {`{}`, 0, "", `{}`},
		"empty":         {`{"interval":""}`, 0, "", `{}`},
		"null":          {`null`, 0, "", `{}`},
		"null interval": {`{"interval":null}`, 0, "", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			var poll RegistryPoll
			must.NoError(t, json.Unmarshal([]byte(tc.in), &poll))
			if got := poll.Interval; (got == nil) != (tc.interval == 0) || got != nil && got.Duration != tc.interval {
				t.Errorf("the interval is %v, want %s", got, tc.interval)
			}
			if (poll.ParsingError == "") != (tc.problem == "") || !strings.Contains(poll.ParsingError, tc.problem) {
				t.Errorf("the error is %q, want one with %q", poll.ParsingError, tc.problem)
			}
			const published = "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s instead. Error: time: "
			if tc.problem != "" && !strings.HasPrefix(poll.ParsingError, published) {
				t.Errorf("the error is %q, want the published text %q", poll.ParsingError, published)
			}
			if out, err := json.Marshal(poll); err != nil || string(out) != tc.out {
				t.Errorf("written as %s (%v), want %s", out, err, tc.out)
			}
		})
	}
}

func TestRegistryPollWritesAChangedInterval(t *testing.T) {
	for name, text := range map[string]string{"good": `{"interval":"10m"}`, "none": `{}`} {
		var poll RegistryPoll
		must.NoError(t, json.Unmarshal([]byte(text), &poll))
		poll.Interval = &metav1.Duration{Duration: time.Hour}
		if out, err := json.Marshal(poll); err != nil || string(out) != `{"interval":"1h0m0s"}` {
			t.Errorf("%s: written as %s (%v), want the new interval", name, out, err)
		}
	}
}

func TestUpdateStrategyWithoutPoll(t *testing.T) {
	var source CatalogSource
	must.NoError(t, json.Unmarshal([]byte(`{"spec":{"sourceType":"grpc","updateStrategy":{}}}`), &source))
	if source.Spec.UpdateStrategy == nil || source.Spec.UpdateStrategy.RegistryPoll != nil {
		t.Errorf("got %+v, want a strategy without poll", source.Spec.UpdateStrategy)
	}
}

func FuzzRegistryPoll(f *testing.F) {
	for _, seed := range []string{"10m", "often", "", "1h1m1s", "-5s", "9999999h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, interval string) {
		in := must.Value(json.Marshal(map[string]string{"interval": interval}))(t)
		var poll, again RegistryPoll
		must.NoErrorf(t, json.Unmarshal(in, &poll), "%q keeps the object from being read", interval)
		out := must.Value(json.Marshal(poll))(t)
		if err := json.Unmarshal(out, &again); err != nil || again.RawInterval != poll.RawInterval {
			t.Errorf("%q became %q (%v)", poll.RawInterval, again.RawInterval, err)
		}
	})
}
