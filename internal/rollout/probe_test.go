package rollout

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestProbes(t *testing.T) {
	tests := map[string]struct {
		probe Probe
		live  string
		want  string
	}{
		"no condition":      {Condition("Ready", "True"), `{}`, "condition Ready is not set yet"},
		"other condition":   {Condition("Ready", "True"), `{status: {conditions: [{type: Fine, status: "True"}, 7]}}`, "condition Ready is not set yet"},
		"condition false":   {Condition("Ready", "True"), `{status: {conditions: [{type: Ready, status: "False", reason: NoDisk, message: full}]}}`, "condition Ready is False: NoDisk: full"},
		"condition met":     {Condition("Ready", "True"), `{status: {conditions: [{type: Ready, status: "True"}]}}`, ""},
		"value missing":     {FieldValue("status.phase", "Active"), `{}`, "status.phase is not set yet"},
		"value other":       {FieldValue(".status.phase", "Active"), `{status: {phase: Gone}}`, `value at key ".status.phase" != "Active"; expected: "Active" got: "Gone"`},
		"value of a number": {FieldValue("status.x", "3"), `{status: {x: 2}}`, `value at key "status.x" != "3"; expected: "3" got: 2`},
		"number met":        {FieldValue("status.x", "2"), `{status: {x: 2}}`, ""},
		"value in no map":   {FieldValue("status.phase.x", "2"), `{status: {phase: Gone}}`, "status.phase.x is not set yet"},
		"fields equal":      {FieldsEqual("spec.x", "status.x"), `{spec: {x: 2}, status: {x: 2}}`, ""},
		"fields differ":     {FieldsEqual("spec.x", "status.x"), `{spec: {x: 2}, status: {x: 1}}`, "spec.x is 2, but status.x is 1"},
		"left missing":      {FieldsEqual("spec.x", "status.x"), `{status: {x: 1}}`, "spec.x is not set yet"},
		"right missing":     {FieldsEqual("spec.x", "status.x"), `{spec: {x: 1}}`, "status.x is not set yet"},
		"not observed":      {Observed, `{metadata: {generation: 3}, status: {observedGeneration: 2}}`, "its generation 3 has not been seen by its controller, which is at 2"},
		"observed":          {Observed, `{metadata: {generation: 3}, status: {observedGeneration: 3}}`, ""},
		"tells no":          {Observed, `{metadata: {generation: 3}}`, ""},
		"all met":           {All(Observed, FieldValue("kind", "X")), `{kind: X}`, ""},
		"first unmet":       {All(FieldValue("kind", "X"), FieldValue("kind", "Y")), `{kind: X}`, `value at key "kind" != "Y"; expected: "Y" got: "X"`},
		"crd new":           {Established, `{}`, "condition NamesAccepted is not set yet"},
		"crd names taken":   {Established, `{status: {conditions: [{type: NamesAccepted, status: "False", reason: PluralConflict, message: already in use}]}}`, "condition NamesAccepted is False: PluralConflict: already in use"},
		"crd accepted":      {Established, `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "False"}]}}`, "condition Established is False"},
		"crd served":        {Established, `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "waits", tc.probe(object(t, tc.live)), tc.want)
		})
	}
}
