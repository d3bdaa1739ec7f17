package v1alpha1

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/test/must"
)

func second(n int) metav1.Time { return metav1.NewTime(time.Unix(int64(n), 0)) }

func TestSetPhaseTimes(t *testing.T) {
	var s ClusterServiceVersionStatus
	for i, step := range []struct {
		phase             ClusterServiceVersionPhase
		reason            ConditionReason
		message           string
		history           int
		lastTransitionSec int64
	}{
		{CSVPhasePending, CSVReasonRequirementsUnknown, "first", 1, 0},
		{CSVPhasePending, CSVReasonRequirementsUnknown, "only the message is new", 1, 0},
		{CSVPhasePending, CSVReasonRequirementsNotMet, "the reason is new", 2, 0},
		{CSVPhaseInstalling, CSVReasonInstallSuccessful, "the phase is new", 3, 3},
		{CSVPhaseFailed, CSVReasonInstallSuccessful, "only the phase is new", 4, 4},
	} {
		s.SetPhase(step.phase, step.reason, step.message, second(i))
		if s.Phase != step.phase || s.Reason != step.reason || s.Message != step.message {
			t.Errorf("step %d: got %s/%s %q", i, s.Phase, s.Reason, s.Message)
		}
		must.Equal(t, fmt.Sprintf("step %d: the history", i), len(s.Conditions), step.history)
		must.Equal(t, fmt.Sprintf("step %d: updated", i), s.LastUpdateTime.Unix(), int64(i))
		must.Equal(t, fmt.Sprintf("step %d: moved", i), s.LastTransitionTime.Unix(), step.lastTransitionSec)
	}
	last := s.Conditions[3]
	if last.Phase != CSVPhaseFailed || last.Message != "only the phase is new" || last.LastUpdateTime.Unix() != 4 || last.LastTransitionTime.Unix() != 4 {
		t.Errorf("the last entry of the history is %+v", last)
	}
}

func TestSetPhaseForgetsTheOldest(t *testing.T) {
	var s ClusterServiceVersionStatus
	for i := range 25 {
		s.SetPhase(CSVPhasePending, ConditionReason(fmt.Sprint(i)), "", second(i))
	}
	if len(s.Conditions) != 20 || s.Conditions[0].Reason != "5" || s.Conditions[19].Reason != "24" {
		t.Errorf("got %d entries from %s to %s, want 20 from 5 to 24", len(s.Conditions), s.Conditions[0].Reason, s.Conditions[len(s.Conditions)-1].Reason)
	}
}

func TestIsCopied(t *testing.T) {
	for name, tc := range map[string]struct {
		meta   metav1.ObjectMeta
		reason ConditionReason
		want   bool
	}{
		"original":                 {metav1.ObjectMeta{Namespace: "a", Annotations: map[string]string{OperatorNamespaceAnnotation: "a"}}, CSVReasonInstallSuccessful, false},
		"new":                      {metav1.ObjectMeta{Namespace: "a"}, "", false},
		"by reason":                {metav1.ObjectMeta{Namespace: "a"}, CSVReasonCopied, true},
		"by operator namespace":    {metav1.ObjectMeta{Namespace: "a", Annotations: map[string]string{OperatorNamespaceAnnotation: "b"}}, "", true},
		"by label":                 {metav1.ObjectMeta{Namespace: "a", Labels: map[string]string{CopiedFromLabel: "b"}}, "", true},
		"by label without a value": {metav1.ObjectMeta{Namespace: "a", Labels: map[string]string{CopiedFromLabel: ""}}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			csv := &ClusterServiceVersion{ObjectMeta: tc.meta, Status: ClusterServiceVersionStatus{Reason: tc.reason}}
			must.Equal(t, "IsCopied", csv.IsCopied(), tc.want)
			if got, want := IsCopied(&tc.meta), tc.want && tc.reason == ""; got != want {
				t.Errorf("from the metadata: got %t, want %t", got, want)
			}
		})
	}
}

// exampleCSV owns and requires APIs of both sorts, some of them twice.
func exampleCSV() *ClusterServiceVersion {
	csv := &ClusterServiceVersion{}
	csv.Spec.CustomResourceDefinitions = CustomResourceDefinitions{
		Owned: []CRDDescription{
			{Name: "zoos.a.io", Version: "v1", Kind: "Zoo"},
			{Name: "apes.a.io", Version: "v1", Kind: "Ape", Description: "owned"},
			{Name: "apes.a.io", Version: "v2", Kind: "Ape"},
		},
		Required: []CRDDescription{{Name: "apes.a.io", Version: "v1", Kind: "Ape", Description: "required"}, {Name: "nodot", Version: "v1", Kind: "Odd"}},
	}
	csv.Spec.APIServiceDefinitions = APIServiceDefinitions{
		Owned:    []APIServiceDescription{{Name: "cats", Group: "b.io", Version: "v1", Kind: "Cat"}, {Name: "cats", Group: "b.io", Version: "v1", Kind: "Cat"}},
		Required: []APIServiceDescription{{Name: "dogs", Group: "c.io", Version: "v1", Kind: "Dog"}, {Name: "cats", Group: "b.io", Version: "v1", Kind: "Cat"}},
	}
	return csv
}

func TestAllCRDs(t *testing.T) {
	var got []string
	for _, d := range exampleCSV().AllCRDs() {
		got = append(got, d.Name+" "+d.Description)
	}
	want := []string{"apes.a.io owned", "nodot ", "zoos.a.io "}
	must.Equal(t, "want each CRD once, by name, owned first", got, want)
}

func TestOwns(t *testing.T) {
	csv := exampleCSV()
	for name, want := range map[string]bool{"apes.a.io": true, "nodot": false, "v1.b.io": false} {
		must.Equal(t, fmt.Sprintf("OwnsCRD(%s)", name), csv.OwnsCRD(name), want)
	}
	for name, want := range map[string]bool{"v1.b.io": true, "v1.c.io": false, "v2.b.io": false} {
		must.Equal(t, fmt.Sprintf("OwnsAPIService(%s)", name), csv.OwnsAPIService(name), want)
	}
}

func TestAPIs(t *testing.T) {
	csv := exampleCSV()
	provided := []schema.GroupVersionKind{
		{Group: "a.io", Version: "v1", Kind: "Ape"}, {Group: "a.io", Version: "v1", Kind: "Zoo"}, {Group: "a.io", Version: "v2", Kind: "Ape"},
		{Group: "b.io", Version: "v1", Kind: "Cat"},
	}
	must.Equal(t, "provided APIs differ", csv.ProvidedAPIs(), provided)
	required := []schema.GroupVersionKind{
		{Group: "a.io", Version: "v1", Kind: "Ape"}, {Group: "b.io", Version: "v1", Kind: "Cat"}, {Group: "c.io", Version: "v1", Kind: "Dog"},
	}
	must.Equal(t, "required APIs differ", csv.RequiredAPIs(), required)
	if got := csv.OwnedAPIServices(); len(got) != 1 || got[0].APIServiceName() != "v1.b.io" {
		t.Errorf("owned APIServices are %v, want v1.b.io once", got)
	}
	if got := csv.RequiredAPIServices(); len(got) != 1 || got[0].APIServiceName() != "v1.c.io" {
		t.Errorf("required APIServices that are not owned are %v, want v1.c.io", got)
	}
}

func TestPluralAndGroup(t *testing.T) {
	for name, tc := range map[string]struct {
		plural, group string
		ok            bool
	}{
		"apes.a.io": {"apes", "a.io", true},
		"apes":      {"", "", false},
		".a.io":     {"", "", false},
		"apes.":     {"", "", false},
		"":          {"", "", false},
	} {
		plural, group, err := CRDDescription{Name: name}.PluralAndGroup()
		if plural != tc.plural || group != tc.group || (err == nil) != tc.ok {
			t.Errorf("%q gives %q, %q, %v", name, plural, group, err)
		}
	}
}
