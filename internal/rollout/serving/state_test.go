package serving

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/test/must"
)

// TestNext has a row for every cell of the table: what can be used, what is staged, since when that is trusted, what was issued.
func TestNext(t *testing.T) {
	good, other := issue(t, Request{}), issue(t, Request{Now: start.Add(time.Hour)})
	rotate := must.Value(good.RotateAt())(t)
	next := issue(t, Request{Old: good, Now: rotate})
	lost, foreign := Certificate{}, issue(t, Request{Hosts: []string{"svc.other"}, Now: rotate})
	expired := start.Add(DefaultLife + time.Second)
	many := make([]time.Time, maxReissues+1)
	for i := range many {
		many[i] = rotate.Add(time.Duration(i) * time.Second)
	}
	fresh := many[len(many)-1]
	again := many[0].Add(reissueWindow)
	for name, tc := range map[string]struct {
		current, staged Certificate
		since, now      time.Time
		issued          []time.Time
		step            Step
		at              time.Time
		reason          string
	}{
		"good":                                    {current: good, now: start, step: StepKeep, at: rotate},
		"good, half a moment before renewal":      {current: good, now: rotate.Add(-time.Second), step: StepKeep, at: rotate},
		"due":                                     {current: good, now: rotate, step: StepStage, reason: "two thirds"},
		"due, garbage is staged":                  {current: good, staged: Certificate{Certificate: []byte("x")}, now: rotate, step: StepStage, reason: "two thirds"},
		"due, the staged one is for other hosts":  {current: good, staged: foreign, since: rotate, now: fresh, step: StepStage, reason: "two thirds"},
		"due, the staged one has expired":         {current: issue(t, Request{Life: 3 * DefaultLife}), staged: other, since: rotate, now: expired.Add(DefaultLife), step: StepStage, reason: "two thirds"},
		"due, staged":                             {current: good, staged: next, now: rotate, step: StepPublish, reason: "two thirds"},
		"due, staged, trusted in the future":      {current: good, staged: next, since: fresh.Add(time.Hour), now: fresh, step: StepPublish, reason: "two thirds"},
		"due, staged and trusted":                 {current: good, staged: next, since: rotate, now: rotate.Add(APIServerDelay - 1), step: StepKeep, at: rotate.Add(APIServerDelay)},
		"due, staged and trusted for long enough": {current: good, staged: next, since: rotate, now: rotate.Add(APIServerDelay), step: StepPromote, reason: "two thirds"},
		"good, another one is staged":             {current: good, staged: other, now: start.Add(2 * time.Hour), step: StepPublish, reason: "staged"},
		"good, staged is the same":                {current: good, staged: good, now: start, step: StepKeep, at: rotate},
		"lost":                                    {current: lost, now: rotate, step: StepIssue, reason: "no certificate"},
		"lost, staged":                            {current: lost, staged: next, now: rotate, step: StepIssue, reason: "no certificate"},
		"lost, staged and trusted a moment ago":   {current: lost, staged: next, since: rotate, now: rotate, step: StepPromote, reason: "no certificate"},
		"lost, the staged one is for other hosts": {current: lost, staged: foreign, since: rotate, now: fresh, step: StepIssue, reason: "no certificate"},
		"expired":                                 {current: good, now: expired, step: StepIssue, reason: "expired"},
		"for other hosts":                         {current: foreign, now: fresh, step: StepIssue, reason: "svc.other"},
		"lost for the last time that is allowed":  {current: lost, now: fresh, issued: many[1:], step: StepIssue, reason: "no certificate"},
		"lost too often":                          {current: lost, now: fresh, issued: many, step: StepLimited, at: again, reason: "issued 6 times within 10m0s, because another client"},
		"lost too often, staged and trusted":      {current: lost, staged: next, since: rotate, now: fresh, issued: many, step: StepPromote, reason: "no certificate"},
		"lost too often, a while ago":             {current: lost, now: again, issued: many, step: StepIssue, reason: "no certificate"},
		"staged too often":                        {current: good, now: fresh, issued: many, step: StepLimited, at: again, reason: "(two thirds"},
	} {
		t.Run(name, func(t *testing.T) {
			s := State{Current: tc.current, Staged: tc.staged, TrustedSince: tc.since, Hosts: hosts, Delay: APIServerDelay, Issued: tc.issued}
			got := s.Next(tc.now)
			if got.Step != tc.step || !got.At.Equal(tc.at) {
				t.Errorf("%s at %s, want %s at %s", got.Step, got.At, tc.step, tc.at)
			}
			expect(t, "the reason", got.Reason, tc.reason)
		})
	}
}

// TestTrustedHasTheCertificateInUse although the staged one was issued for another certificate.
func TestTrustedHasTheCertificateInUse(t *testing.T) {
	s := State{Current: issue(t, Request{}), Staged: issue(t, Request{}), Hosts: hosts}
	for _, served := range []Certificate{s.Current, s.Staged} {
		served.CABundle = s.Trusted(start)
		expect(t, "Check", served.Check(hosts, start), "")
	}
	s.Staged.Key = nil
	must.Equal(t, "what cannot be served is trusted", string(s.Trusted(start)), string(s.Current.CABundle))
}

// TestSecretsOfEarlierVersions are read: with the authority of the staged certificate in the CA bundle in use, and without anything staged.
func TestSecretsOfEarlierVersions(t *testing.T) {
	current := issue(t, Request{})
	staged := issue(t, Request{Old: current})
	secret := &corev1.Secret{Data: map[string][]byte{"tls.crt": current.Certificate, "tls.key": current.Key, "ca.crt": staged.CABundle, "next.crt": staged.Certificate, "next.key": staged.Key}}
	s := Read(secret, CAKey)
	s.Hosts = hosts
	if got := s.Next(start); got.Step != StepPublish || string(s.Trusted(start)) != string(staged.CABundle) {
		t.Errorf("the step is %s (%v)", got.Step, got.Reason)
	}
	if s, err := s.After(StepPromote, Request{}); err != nil || !Same(s.Current, staged) || string(s.Trusted(start)) != string(staged.CABundle) || s.IsStaged(start) {
		t.Errorf("promoted: %v", err)
	}
	secret.Data = map[string][]byte{"tls.crt": current.Certificate, "tls.key": current.Key, "olmCAKey": current.CABundle}
	if s := Read(secret, "olmCAKey"); s.IsStaged(start) || !Same(s.Current, current) || string(s.Trusted(start)) != string(current.CABundle) {
		t.Errorf("read %v", s)
	}
}

// TestSecretHoldsTheState: what is written is read, and nothing of a state before is left.
func TestSecretHoldsTheState(t *testing.T) {
	current := issue(t, Request{})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"theirs": "stays"}}}
	for _, want := range []State{
		{Current: current},
		{Current: current, Staged: issue(t, Request{Old: current})},
		{Current: current, Staged: issue(t, Request{Old: current}), TrustedSince: start.Add(time.Nanosecond)},
		{Current: current},
	} {
		want.Write(secret, CAKey)
		got := Read(secret, CAKey)
		if want.Staged.Certificate == nil {
			got.Staged.CABundle = nil
			must.Equal(t, "the Secret holds keys and the annotations", len(secret.Data), 3)
			must.Equal(t, "the Secret holds keys and the annotations", len(secret.Annotations), 1)
		}
		must.Equal(t, "result", got, want)
	}
}

// TestAfterFails without a host.
func TestAfterFails(t *testing.T) {
	want := State{Current: issue(t, Request{})}
	for _, step := range []Step{StepIssue, StepStage} {
		if got, err := want.After(step, Request{Now: start}); err == nil || !Same(got.Current, want.Current) || got.Staged.Certificate != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// TestIssues are counted for each Secret, and forgotten.
func TestIssues(t *testing.T) {
	var i Issues
	one, other := types.NamespacedName{Name: "one"}, types.NamespacedName{Name: "other"}
	i.Record(one, start)
	i.Record(one, start.Add(time.Minute))
	i.Record(other, start.Add(reissueWindow))
	must.Equal(t, "recent", i.Recent(one, start.Add(reissueWindow)), []time.Time{start.Add(time.Minute)})
	i.Record(other, start.Add(2*reissueWindow))
	if got := i.Recent(other, start.Add(2*reissueWindow)); len(got) != 1 || len(i.at) != 1 {
		t.Errorf("recent are %v, of %d Secrets", got, len(i.at))
	}
}

// TestJoin: a certificate that clients do not trust, which can be used, is trusted besides the one from before; any other stays as it is.
func TestJoin(t *testing.T) {
	before, restored := issue(t, Request{}), issue(t, Request{Now: start.Add(time.Hour)})
	now := start.Add(2 * time.Hour)
	renewed := issue(t, Request{Old: before, Now: now})
	for name, test := range map[string]struct {
		current    Certificate
		registered [][]byte
		joined     bool
	}{
		"restored":                            {restored, [][]byte{before.CABundle}, true},
		"restored, one client knows it":       {restored, [][]byte{restored.CABundle, before.CABundle}, true},
		"trusted":                             {before, [][]byte{before.CABundle}, false},
		"trusted besides others":              {before, [][]byte{renewed.CABundle}, false},
		"made here, and not registered yet":   {renewed, [][]byte{before.CABundle}, false},
		"no clients":                          {restored, nil, false},
		"clients that trust nothing":          {restored, [][]byte{nil, []byte("x")}, false},
		"one that cannot be used":             {issue(t, Request{Hosts: []string{"svc.other"}}), [][]byte{before.CABundle}, false},
		"a client that trusts what is over":   {restored, [][]byte{issue(t, Request{Life: time.Minute}).CABundle}, false},
		"restored, with what is over as well": {restored, [][]byte{issue(t, Request{Life: time.Minute}).CABundle, before.CABundle}, true},
	} {
		s := State{Current: test.current, Hosts: hosts}
		after, joined := s.Join(now, test.registered...)
		must.Equal(t, name, joined, test.joined)
		if !joined {
			must.Equal(t, name+": CA bundle", string(after.Current.CABundle), string(test.current.CABundle))
			continue
		}
		for which, shown := range map[string]Certificate{"before": before, "restored": restored} {
			shown.CABundle = after.Current.CABundle
			must.NoErrorf(t, shown.Check(hosts, now), "%s: the certificate %s", name, which)
		}
		_, again := after.Join(now, after.Current.CABundle)
		must.Equal(t, name+", registered", again, false)
	}
}
