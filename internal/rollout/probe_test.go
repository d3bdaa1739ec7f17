package rollout

import (
	"testing"
)

func TestProbes(t *testing.T) {
	const deployment = `{spec: {replicas: 2}, metadata: {generation: 3}, status: `
	tests := map[string]struct {
		probe Probe
		live  string
		want  string
	}{
		"no condition":       {Condition("Ready", "True"), `{}`, "condition Ready is not set yet"},
		"other condition":    {Condition("Ready", "True"), `{status: {conditions: [{type: Fine, status: "True"}, 7]}}`, "condition Ready is not set yet"},
		"condition false":    {Condition("Ready", "True"), `{status: {conditions: [{type: Ready, status: "False", reason: NoDisk, message: full}]}}`, "condition Ready is False: NoDisk: full"},
		"condition met":      {Condition("Ready", "True"), `{status: {conditions: [{type: Ready, status: "True"}]}}`, ""},
		"value missing":      {FieldValue("status.phase", "Active"), `{}`, "status.phase is not set yet"},
		"value other":        {FieldValue(".status.phase", "Active"), `{status: {phase: Gone}}`, `value at key ".status.phase" != "Active"; expected: "Active" got: "Gone"`},
		"value of a number":  {FieldValue("status.x", "3"), `{status: {x: 2}}`, `value at key "status.x" != "3"; expected: "3" got: 2`},
		"number met":         {FieldValue("status.x", "2"), `{status: {x: 2}}`, ""},
		"value in no map":    {FieldValue("status.phase.x", "2"), `{status: {phase: Gone}}`, "status.phase.x is not set yet"},
		"fields equal":       {FieldsEqual("spec.x", "status.x"), `{spec: {x: 2}, status: {x: 2}}`, ""},
		"fields differ":      {FieldsEqual("spec.x", "status.x"), `{spec: {x: 2}, status: {x: 1}}`, "spec.x is 2, but status.x is 1"},
		"left missing":       {FieldsEqual("spec.x", "status.x"), `{status: {x: 1}}`, "spec.x is not set yet"},
		"right missing":      {FieldsEqual("spec.x", "status.x"), `{spec: {x: 1}}`, "status.x is not set yet"},
		"not observed":       {Observed, `{metadata: {generation: 3}, status: {observedGeneration: 2}}`, "its generation 3 has not been seen by its controller, which is at 2"},
		"observed":           {Observed, `{metadata: {generation: 3}, status: {observedGeneration: 3}}`, ""},
		"tells no":           {Observed, `{metadata: {generation: 3}}`, ""},
		"all met":            {All(Observed, FieldValue("kind", "X")), `{kind: X}`, ""},
		"first unmet":        {All(FieldValue("kind", "X"), FieldValue("kind", "Y")), `{kind: X}`, `value at key "kind" != "Y"; expected: "Y" got: "X"`},
		"crd new":            {Established, `{}`, "condition NamesAccepted is not set yet"},
		"crd names taken":    {Established, `{status: {conditions: [{type: NamesAccepted, status: "False", reason: PluralConflict, message: already in use}]}}`, "condition NamesAccepted is False: PluralConflict: already in use"},
		"crd accepted":       {Established, `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "False"}]}}`, "condition Established is False"},
		"crd served":         {Established, `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, ""},
		"deployment new":     {Available, deployment + `{}}`, "0 of 2 replicas are updated"},
		"deployment stale":   {Available, deployment + `{observedGeneration: 2, updatedReplicas: 2}}`, "its generation 3 has not been seen by its controller, which is at 2"},
		"deployment rolling": {Available, deployment + `{observedGeneration: 3, updatedReplicas: 1}}`, "1 of 2 replicas are updated"},
		"deployment down":    {Available, deployment + `{observedGeneration: 3, updatedReplicas: 2, conditions: [{type: Available, status: "False"}]}}`, "condition Available is False"},
		"deployment up":      {Available, deployment + `{observedGeneration: 3, updatedReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, ""},
		"default replicas":   {Available, `{status: {updatedReplicas: 1, conditions: [{type: Available, status: "True"}]}}`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.probe(object(t, tc.live)); got != tc.want {
				t.Errorf("waits for %q, want %q", got, tc.want)
			}
		})
	}
}

// TestScaledToZero tells what others did from what the manifest asks for.
func TestScaledToZero(t *testing.T) {
	number := func(n int32) *int32 { return &n }
	const scaled = "Deployment manager is scaled to 0 replicas; scale it up again"
	for name, test := range map[string]struct {
		desired, live *int32
		want          string
	}{
		"no number is asked for, and none set": {nil, nil, ""},
		"no number is asked for":               {nil, number(0), scaled},
		"another one is asked for":             {number(2), number(0), scaled},
		"zero is asked for":                    {number(0), number(0), ""},
		"scaled up":                            {number(0), number(3), ""},
		"it runs":                              {nil, number(1), ""},
	} {
		if got := ScaledToZero("Deployment", "manager", test.desired, test.live); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
