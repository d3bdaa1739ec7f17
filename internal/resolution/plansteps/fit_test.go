package plansteps

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// shelf keeps manifests under references as long as those of the content store.
type shelf map[string]string

func (s shelf) Refer(_ context.Context, manifest []byte) (string, error) {
	return string(manifest), nil
}

func (s shelf) Store(_ context.Context, manifest []byte) (string, error) {
	text := fmt.Sprintf(`{"kind":"ContentReference","digest":"sha256:%x","size":%d}`, sha256.Sum256(manifest), len(manifest))
	s[text] = string(manifest)
	return text, nil
}

func stepsOf(n int, kind, manifest string) []*v1alpha1.Step {
	steps := make([]*v1alpha1.Step, n)
	for i := range steps {
		steps[i] = &v1alpha1.Step{Resolving: "op.v1", Status: v1alpha1.StepStatusUnknown,
			Resource: v1alpha1.StepResource{CatalogSource: "cat", CatalogSourceNamespace: "olm", Version: "v1", Kind: kind, Name: fmt.Sprintf("object-%d", i), Manifest: manifest}}
	}
	return steps
}

// TestFit has plans whose manifests are small one by one, and large together.
func TestFit(t *testing.T) {
	plain, escaped := strings.Repeat("x", 1900), strings.Repeat("<", 1900)
	for name, tc := range map[string]struct {
		steps []*v1alpha1.Step
		whole int // how many manifests stay in the plan; -1 is all
	}{
		"few":                                    {stepsOf(100, "ConfigMap", plain), -1},
		"900":                                    {stepsOf(900, "ConfigMap", plain), MaxInlined / 1902},
		"with characters that JSON makes longer": {stepsOf(900, "ConfigMap", escaped), MaxInlined / 11402},
		"smaller than a reference":               {stepsOf(2000, "ConfigMap", strings.Repeat("x", referenced-10)), -1},
		"Subscriptions, which no bundle holds":   {stepsOf(300, "Subscription", plain), -1},
	} {
		t.Run(name, func(t *testing.T) {
			kept := shelf{}
			status := &v1alpha1.InstallPlanStatus{Plan: tc.steps}
			before := tc.steps[len(tc.steps)-1].Resource.Manifest
			if err := (Writer{Manifests: kept}).Fit(t.Context(), status); err != nil {
				t.Fatal(err)
			}
			whole := 0
			for _, s := range status.Plan {
				if s.Resource.Manifest == before {
					whole++
				} else if kept[s.Resource.Manifest] != before {
					t.Fatalf("step %s holds %.100s", s.Resource.Name, s.Resource.Manifest)
				}
			}
			if want := tc.whole; want >= 0 && (whole > want || whole < want*9/10) || want < 0 && whole != len(tc.steps) {
				t.Errorf("%d of %d manifests are in the plan, want %d", whole, len(tc.steps), want)
			}
			if text, err := json.Marshal(status); err != nil || len(text) > MaxContent {
				t.Errorf("%v: %d bytes", err, len(text))
			}
			again := status.DeepCopy()
			if err := (Writer{Manifests: kept}).Fit(t.Context(), again); err != nil || encodedSize(again) != encodedSize(status) {
				t.Errorf("fitting it again makes another plan of it: %v", err)
			}
		})
	}
}

// TestFitRefusesWhatNeverFits: of so many objects not even the list fits.
func TestFitRefusesWhatNeverFits(t *testing.T) {
	status := &v1alpha1.InstallPlanStatus{Plan: stepsOf(5000, "ConfigMap", strings.Repeat("x", 1900))}
	err := Writer{Manifests: shelf{}}.Fit(t.Context(), status)
	if !errors.Is(err, bundle.ErrUnwritable) || !strings.Contains(err.Error(), "list the 5000 objects") || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("%v", err)
	}
	long := &v1alpha1.InstallPlanStatus{BundleLookups: []v1alpha1.BundleLookup{{Properties: strings.Repeat("x", MaxContent)}}}
	if err := (Writer{Manifests: shelf{}}).Fit(t.Context(), long); !errors.Is(err, bundle.ErrUnwritable) {
		t.Errorf("properties of a bundle count as well: %v", err)
	}
}
