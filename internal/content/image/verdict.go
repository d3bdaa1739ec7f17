package image

import (
	"cmp"
	"encoding/json"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Verdict is what is known of the signatures of content. Its zero value is that
// of content to which no signature policy applies.
type Verdict struct {
	// Verification is why the content may be used.
	Verification *Verification
	// Err is why it must not, or why that could not be decided.
	Err error
}

// Decides reports whether an error is the decision of a signature policy, or the
// lack of one, rather than an error of a registry.
func Decides(err error) bool {
	return KindOf(err) == Unverified || IsUndecided(err)
}

// IsUnverified reports whether an error refuses an image by the signature
// policy. It stays until the policy or the registry changes.
func IsUnverified(err error) bool {
	return KindOf(err) == Unverified && !IsUndecided(err)
}

// Condition is the condition SignatureVerified of the verdict, without
// generation and time. It is nil when no policy applies.
func (v Verdict) Condition() *metav1.Condition {
	c := metav1.Condition{Type: olmv1.TypeSignatureVerified}
	switch {
	case IsUnverified(v.Err):
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, olmv1.ReasonUnverified, messages.Error(v.Err)
	case v.Err != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, olmv1.ReasonUndecided, messages.Error(v.Err)
	case v.Verification != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, cmp.Or(outcomeReasons[v.Verification.Outcome], olmv1.ReasonSigned), v.Verification.String()
	default:
		return nil
	}
	return &c
}

// outcomeReasons are the reasons of the condition; that of other outcomes is Signed.
var outcomeReasons = map[Outcome]string{Covered: olmv1.ReasonCovered, Accepted: olmv1.ReasonAccepted}

// OutcomeKey is the annotation of a revision with the record of the verification of
// its bundle.
const OutcomeKey = olmv1.SettingsPrefix + "signature-verification"

// Record is a verification as an annotation; empty for none.
func Record(v *Verification) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("plain values always encode: " + err.Error())
	}
	return string(text)
}

// Recorded reads the verification of annotations; nil when they have none.
func Recorded(annotations map[string]string) *Verification {
	v := &Verification{}
	if text := annotations[OutcomeKey]; text == "" || json.Unmarshal([]byte(text), v) != nil {
		return nil
	}
	return v
}
