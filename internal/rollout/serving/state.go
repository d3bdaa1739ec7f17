package serving

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How long every client trusts a staged certificate before it is promoted. A third of the life of the certificate in use is left, eight months
// as a rule.
const (
	// APIServerDelay is for API servers, which apply a CA bundle a moment after it is written. Requests that are under way, which take up to a
	// minute, use the bundle from before.
	APIServerDelay = time.Minute
	// ConfigMapDelay is for clients that read the CA bundle from a mounted ConfigMap: a kubelet updates that every minute or two, and
	// monitoring reloads later still.
	ConfigMapDelay = time.Hour
)

// A certificate that is lost is reissued at once, which rolls out pods or a revision. Where another client keeps damaging it, that is bounded:
// one certificate and maxReissues more within reissueWindow.
const (
	maxReissues   = 5
	reissueWindow = 10 * time.Minute
)

// What a Secret holds besides the keys that Kubernetes defines and the CA bundle of the certificate in use.
const (
	stagedCertificate = "next.crt"
	stagedKey         = "next.key"
	// stagedCABundle is missing in Secrets of earlier versions, which added the authority of a staged certificate to the CA bundle in use.
	stagedCABundle = "next-ca.crt"
	// trustedSince is the annotation with the time since when every client trusts the staged certificate.
	trustedSince = "fairlead.dev/staged-certificate-trusted-since"
)

// State is everything that the next step of a certificate depends on, besides the time.
type State struct {
	// Current is the certificate that servers serve. Staged takes its place once every client trusts it; it is empty when there is none.
	Current, Staged Certificate
	// TrustedSince is the time since when every client trusts Staged; zero while one of them may not.
	TrustedSince time.Time
	// Hosts are the names that the certificate has to be valid for.
	Hosts []string
	// Delay is how long clients trust Staged before it is promoted.
	Delay time.Duration
	// Issued are the times of recent issues, oldest first: those of Issues.Recent.
	Issued []time.Time
}

// Step is what to do next about a certificate. Every step but StepKeep and StepLimited ends in a State to be stored: that of After.
type Step string

const (
	// StepKeep is to do nothing before the time of the decision.
	StepKeep Step = "Keep"
	// StepIssue is to replace Current, which cannot be used.
	StepIssue Step = "Issue"
	// StepStage is to issue the certificate that takes the place of Current, which is due for renewal.
	StepStage Step = "Stage"
	// StepPublish is to let every client trust Staged besides Current.
	StepPublish Step = "Publish"
	// StepPromote is to make Staged the current certificate.
	StepPromote Step = "Promote"
	// StepLimited is to issue nothing before the time of the decision: it was done too often.
	StepLimited Step = "Limited"
)

// Decision is a step, its reason, and for StepKeep and StepLimited the time of the next decision.
type Decision struct {
	Step   Step
	Reason error // nil for StepKeep
	At     time.Time
}

// Next decides on the next step.
func (s State) Next(now time.Time) Decision {
	unusable, due := s.Current.Check(s.Hosts, now), s.Current.Due(s.Hosts, now)
	// Every client trusts the staged certificate after a while. A time that is to come is not ours.
	trusted, ripe := !s.TrustedSince.IsZero() && !s.TrustedSince.After(now), s.TrustedSince.Add(s.Delay)
	next := Decision{Reason: cmp.Or(due, errStaged)}
	switch staged := s.IsStaged(now); {
	case unusable != nil && staged && trusted:
		next.Step = StepPromote
	case unusable != nil:
		next.Step = StepIssue
	case staged && !trusted:
		next.Step = StepPublish
	case staged && now.Before(ripe):
		return Decision{Step: StepKeep, At: ripe}
	case staged:
		next.Step = StepPromote
	case due != nil:
		next.Step = StepStage
	default:
		at, _ := s.Current.RotateAt() // one that can be used can be read
		return Decision{Step: StepKeep, At: at}
	}
	if recent := recentIssues(s.Issued, now); len(recent) > maxReissues && (next.Step == StepIssue || next.Step == StepStage) {
		at := recent[len(recent)-1-maxReissues].Add(reissueWindow)
		return Decision{Step: StepLimited, At: at, Reason: fmt.Errorf("it was issued %d times within %s, because another client deletes or changes the Secret: find that client, by "+
			"metadata.managedFields of the Secret or the audit log of the cluster, and stop it from writing; the next certificate is issued at %s (%w)",
			len(recent), reissueWindow, at.UTC().Format(time.RFC3339), next.Reason)}
	}
	return next
}

var errStaged = errors.New("another certificate is staged")

// IsStaged reports whether a certificate is staged that can be used.
func (s State) IsStaged(now time.Time) bool {
	return !Same(s.Staged, s.Current) && s.Staged.Check(s.Hosts, now) == nil
}

// Trusted is the CA bundle of clients: they trust the certificate in use and the staged one.
func (s State) Trusted(now time.Time) []byte {
	if !s.IsStaged(now) {
		return s.Current.CABundle
	}
	current := s.Current
	if current.CABundle = s.Staged.CABundle; current.Check(nil, now) == nil {
		return s.Staged.CABundle
	}
	return Merge(now, maxTrusted, s.Staged.CABundle, s.Current.CABundle)
}

// ErrUntrusted is why clients have to trust a certificate that is in use already.
var ErrUntrusted = errors.New("it holds a certificate that registered clients do not trust, as that of a restored backup is: they trust both it and the one before, before servers show it")

// Join is the state of a certificate in use that another client has put in the place of the one that clients trust, as a restored backup does. It can be used,
// so that it stays; its CA bundle gets the certificates that clients trust by now, since servers show the certificate from before until each has read the Secret.
// It is false where clients trust the certificate, where there are none, and where the CA bundle has all of that.
func (s State) Join(now time.Time, registered ...[]byte) (State, bool) {
	untrusted := slices.ContainsFunc(registered, func(bundle []byte) bool {
		asked := s.Current
		asked.CABundle = bundle
		return len(Certificates(bundle)) > 0 && asked.Check(nil, now) != nil
	})
	if !untrusted || s.Current.Check(s.Hosts, now) != nil {
		return s, false
	}
	joined := Merge(now, maxAuthorities, append([][]byte{s.Current.CABundle}, registered...)...)
	if bytes.Equal(joined, Merge(now, maxAuthorities, s.Current.CABundle)) {
		return s, false
	}
	s.Current.CABundle = joined
	return s, true
}

// After is the state after a step. Hosts of the request are those of the state, and the old certificate is Current, where they are not given.
func (s State) After(step Step, r Request) (State, error) {
	switch step {
	case StepIssue, StepStage:
		if r.Hosts == nil {
			r.Hosts = s.Hosts
		}
		if r.Old.CABundle == nil {
			r.Old = s.Current
		}
		fresh, err := Issue(r)
		if err != nil {
			return s, err
		}
		s.TrustedSince = time.Time{}
		if s.Staged = fresh; step == StepIssue {
			s.Current, s.Staged = fresh, Certificate{}
		}
	case StepPublish:
		s.TrustedSince = r.Now
	case StepPromote:
		s.Current, s.Staged, s.TrustedSince = s.Staged, Certificate{}, time.Time{}
	}
	return s, nil
}

// Read reads the certificates of a Secret. Its CA bundle is at a key that clients of the Secret define.
func Read(secret *corev1.Secret, caKey string) State {
	d := secret.Data
	s := State{
		Current: Certificate{Certificate: d[corev1.TLSCertKey], Key: d[corev1.TLSPrivateKeyKey], CABundle: d[caKey]},
		Staged:  Certificate{Certificate: d[stagedCertificate], Key: d[stagedKey], CABundle: d[stagedCABundle]},
	}
	if len(s.Staged.CABundle) == 0 {
		s.Staged.CABundle = s.Current.CABundle
	}
	s.TrustedSince, _ = time.Parse(time.RFC3339, secret.Annotations[trustedSince]) // one that cannot be read is none
	return s
}

// Write makes the certificates the content of a Secret.
func (s State) Write(secret *corev1.Secret, caKey string) {
	secret.Data = map[string][]byte{corev1.TLSCertKey: s.Current.Certificate, corev1.TLSPrivateKeyKey: s.Current.Key, caKey: s.Current.CABundle}
	delete(secret.Annotations, trustedSince)
	if len(s.Staged.Certificate) == 0 {
		return
	}
	secret.Data[stagedCertificate], secret.Data[stagedKey], secret.Data[stagedCABundle] = s.Staged.Certificate, s.Staged.Key, s.Staged.CABundle
	if s.TrustedSince.IsZero() {
		return
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	secret.Annotations[trustedSince] = s.TrustedSince.UTC().Format(time.RFC3339Nano)
}

// Same reports whether both are one certificate with one key, whatever their CA bundles.
func Same(a, b Certificate) bool {
	return bytes.Equal(a.Certificate, b.Certificate) && bytes.Equal(a.Key, b.Key)
}

// Issues records when certificates were issued, by their Secrets. The zero value works; it is safe for concurrent use.
type Issues struct {
	mu sync.Mutex
	at map[types.NamespacedName][]time.Time
}

// Recent are the times at which certificates were issued for a Secret, as far as they count against the limit.
func (i *Issues) Recent(secret types.NamespacedName, now time.Time) []time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return recentIssues(i.at[secret], now)
}

// Record counts a certificate that was issued and stored.
func (i *Issues) Record(secret types.NamespacedName, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at == nil {
		i.at = map[types.NamespacedName][]time.Time{}
	}
	for key, times := range i.at {
		if i.at[key] = recentIssues(times, now); len(i.at[key]) == 0 {
			delete(i.at, key)
		}
	}
	i.at[secret] = append(i.at[secret], now)
}

func recentIssues(times []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(times), func(t time.Time) bool { return now.Sub(t) >= reissueWindow })
}
