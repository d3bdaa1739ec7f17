package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// TestExplain: an API that does not answer is not one that the cluster lacks.
func TestExplain(t *testing.T) {
	const lacks, away = "run the manager, which applies them", "`kubectl get apiservices` shows which"
	unavailable := apierrors.NewServiceUnavailable("no endpoints")
	for name, tc := range map[string]struct {
		err  error
		want string
		not  string
	}{
		"no kind":                   {&meta.NoKindMatchError{}, lacks, away},
		"the API does not answer":   {fmt.Errorf("list: %w", unavailable), away, lacks},
		"discovery is not answered": {fmt.Errorf("list: %w", &apiutil.ErrResourceDiscoveryFailed{schema.GroupVersion{Group: "g", Version: "v1"}: unavailable}), away, lacks},
		"refused":                   {errors.New("refused"), "refused", "run"},
	} {
		if got := Explain(tc.err).Error(); !strings.Contains(got, tc.want) || strings.Contains(got, tc.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := Explain(nil); err != nil {
		t.Errorf("nothing is explained as %v", err)
	}
}
