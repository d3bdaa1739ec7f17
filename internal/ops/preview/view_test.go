package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

func step(operator, kind, name string, status v1alpha1.StepStatus, manifest string) *v1alpha1.Step {
	return &v1alpha1.Step{Resolving: operator, Status: status, Resource: v1alpha1.StepResource{
		CatalogSource: "cat", CatalogSourceNamespace: "olm", Version: "v1", Kind: kind, Name: name, Manifest: manifest,
	}}
}

func samplePlan(phase v1alpha1.InstallPlanPhase, message string, steps ...*v1alpha1.Step) *v1alpha1.InstallPlan {
	p := &v1alpha1.InstallPlan{}
	p.Namespace, p.Name = "ops", "install-abcde"
	p.Spec = v1alpha1.InstallPlanSpec{Approval: v1alpha1.ApprovalManual, Approved: phase != v1alpha1.InstallPlanPhaseRequiresApproval, Generation: 2}
	p.Status = v1alpha1.InstallPlanStatus{Phase: phase, Message: message, Plan: steps}
	return p
}

func TestWrite(t *testing.T) {
	const foreign = `{"kind":"ConfigMap","name":"4f53","namespace":"olm","catalogSourceName":"c"}`
	fetching := samplePlan(v1alpha1.InstallPlanPhaseInstalling, "waiting: fetching bundle op.v2", step("op.v2", "Service", "web", v1alpha1.StepStatusUnknown, foreign))
	fetching.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "op.v2", Path: "registry/op@sha256:1", Replaces: "op.v1",
		CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: "cat"},
		Conditions:       []v1alpha1.BundleLookupCondition{{Type: v1alpha1.BundleLookupFailed, Status: corev1.ConditionTrue, Reason: "Unauthorized", Message: "the registry says 401"}}}}
	fetching.Status.AttenuatedServiceAccountRef = &corev1.ObjectReference{Namespace: "ops", Name: "scoped"}
	tests := map[string]struct {
		plan *v1alpha1.InstallPlan
		want string
	}{
		"nothing is known yet": {samplePlan("", ""), `
InstallPlan ops/install-abcde new (approval Manual, approved, generation 2)
└── no steps
`},
		"two operators, one of them waits": {samplePlan(v1alpha1.InstallPlanPhaseInstalling, "waiting: CustomResourceDefinition widgets.example.com: condition Established is not set yet",
			step("a.v1", "ClusterServiceVersion", "a.v1", v1alpha1.StepStatusCreated, ""), step("b.v1", "ClusterServiceVersion", "b.v1", v1alpha1.StepStatusPresent, ""),
			step("a.v1", "CustomResourceDefinition", "widgets.example.com", v1alpha1.StepStatusWaitingForAPI, "")), `
InstallPlan ops/install-abcde Installing (approval Manual, approved, generation 2)
    waiting: CustomResourceDefinition widgets.example.com: condition Established is not set yet
├── a.v1 from catalog olm/cat
│   ├── ✓ ClusterServiceVersion a.v1 Created
│   └── · CustomResourceDefinition widgets.example.com WaitingForApi
│             CustomResourceDefinition widgets.example.com: condition Established is not set yet
└── b.v1 from catalog olm/cat
    └── ✓ ClusterServiceVersion b.v1 Present
`},
		"approval drops a served version": {samplePlan(v1alpha1.InstallPlanPhaseRequiresApproval, "approve with care: CustomResourceDefinition widgets.example.com: version v1 goes although it is served; clients that use it will fail",
			step("a.v1", "ClusterServiceVersion", "a.v1", v1alpha1.StepStatusUnknown, ""), step("a.v1", "CustomResourceDefinition", "widgets.example.com", v1alpha1.StepStatusUnknown, "")), `
InstallPlan ops/install-abcde RequiresApproval (approval Manual, to approve it set spec.approved to true, generation 2)
    approve with care: CustomResourceDefinition widgets.example.com: version v1 goes although it is served; clients that use it will fail
└── a.v1 from catalog olm/cat
    ├── · ClusterServiceVersion a.v1 Unknown
    └── ! CustomResourceDefinition widgets.example.com Unknown
              CustomResourceDefinition widgets.example.com: version v1 goes although it is served; clients that use it will fail
`},
		"each failure is with its step": {samplePlan(v1alpha1.InstallPlanPhaseFailed,
			"Service ops/web is wanted by ClusterServiceVersion a.v1 but belongs to ClusterServiceVersion ops/b.v1; remove or rename one of the two; create Secret ops/keys: no",
			step("a.v1", "ClusterServiceVersion", "a.v1", v1alpha1.StepStatusUnknown, ""), step("a.v1", "Service", "we", v1alpha1.StepStatusUnknown, ""),
			step("a.v1", "Service", "web", v1alpha1.StepStatusUnknown, ""), step("a.v1", "BundleSecret", "keys", v1alpha1.StepStatusNotPresent, "")), `
InstallPlan ops/install-abcde Failed (approval Manual, approved, generation 2)
    Service ops/web is wanted by ClusterServiceVersion a.v1 but belongs to ClusterServiceVersion ops/b.v1; remove or rename one of the two; create Secret ops/keys: no
└── a.v1 from catalog olm/cat
    ├── · ClusterServiceVersion a.v1 Unknown
    ├── · Service we Unknown
    ├── ✗ Service web Unknown
    │         Service ops/web is wanted by ClusterServiceVersion a.v1 but belongs to ClusterServiceVersion ops/b.v1; remove or rename one of the two
    └── ✗ BundleSecret keys NotPresent
              create Secret ops/keys: no
`},
		"a bundle that is not at hand": {fetching, `
InstallPlan ops/install-abcde Installing (approval Manual, approved, generation 2, as ServiceAccount ops/scoped)
    waiting: fetching bundle op.v2
└── op.v2 from catalog olm/cat, image registry/op@sha256:1, replaces op.v1
        Unauthorized: the registry says 401
    └── · Service web Unknown
`},
		"nobody approved it": {samplePlan(v1alpha1.InstallPlanPhaseRequiresApproval, "", step("", "Secret", "pull", "", "")), `
InstallPlan ops/install-abcde RequiresApproval (approval Manual, to approve it set spec.approved to true, generation 2)
└── for no operator from catalog olm/cat
    └── · Secret pull Unknown
`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			must.NoError(t, ViewPlan(tc.plan).Write(&b))
			must.Equal(t, "result", b.String(), strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

func TestManifests(t *testing.T) {
	large := `{"kind":"ContentReference","digest":"sha256:1","size":70000}`
	foreign := `{"kind":"ConfigMap","name":"4f53","namespace":"olm","catalogSourceName":"c"}`
	v := ViewPlan(samplePlan(v1alpha1.InstallPlanPhaseComplete, "", step("a", "Service", "s", "Created", `{"kind":"Service"}`), step("a", "ConfigMap", "l", "Created", large), step("a", "ConfigMap", "f", "Created", foreign)))
	for i, want := range []string{"18 bytes, in the plan", "sha256:1 (70000 bytes, in the content store)", "ConfigMap olm/4f53 of another implementation; it is read again from the bundle"} {
		must.Equal(t, fmt.Sprintf("manifest %d", i), v.Operators[0].Steps[i].Manifest, want)
	}
	text, err := json.Marshal(v)
	if err != nil || !strings.Contains(string(text), `"index":2`) || strings.Contains(string(text), "null") {
		t.Errorf("%s %v", text, err)
	}
}

// TestFilesMayHoldAnything shows plans as no API server would keep them.
func TestFilesMayHoldAnything(t *testing.T) {
	p := samplePlan(v1alpha1.InstallPlanPhaseFailed, "Service w\x1b[31meb: no\r\nline two\u202e", nil, step("a\x1b]0;title\a", "Service", "w\x1b[31meb\nforged", "\u009b2J", ""))
	p.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "b\u2028", Path: "\x00", Conditions: []v1alpha1.BundleLookupCondition{
		{Type: v1alpha1.BundleLookupFailed, Status: corev1.ConditionTrue, Reason: "X", Message: "\b\b"}}}}
	const want = `
InstallPlan ops/install-abcde Failed (approval Manual, approved, generation 2)
    Service w\x1b[31meb: no\r
    line two\u202e
├── a\x1b]0;title\a from catalog olm/cat
│   └── · Service w\x1b[31meb\nforged \u009b2J
└── b\u2028, image \x00
        X: \b\b
`
	var b bytes.Buffer
	must.NoError(t, ViewPlan(p).Write(&b))
	must.Equal(t, "result", b.String(), strings.TrimPrefix(want, "\n"))
	if v := ViewPlan(p); v.Operators[0].Steps[0].Index != 1 {
		t.Errorf("the step counts as number %d of the plan", v.Operators[0].Steps[0].Index)
	}
}
