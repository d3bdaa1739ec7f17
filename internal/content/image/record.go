package image

import (
	"encoding/json"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

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
