package catalogsource

import (
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"

	"k8s.io/apimachinery/pkg/types"
)

// content is what is known of a catalog from looking at where it comes from.
type content struct {
	uid      types.UID
	spec     string // what was asked for: a change makes everything else void but the index
	index    *catalog.Index
	loaded   time.Time // when the index was made
	digest   string    // of what the index was made from
	warnings string    // what is wrong in a catalog that is served all the same
	invalid  error     // the spec cannot be acted on; nothing is retried until it changes
	problem  error     // why the wanted content is not there
	attempts int       // failures in a row
	looked   time.Time // when it was last looked at

	configMap *v1alpha1.ConfigMapResourceReference // which the index was made from
	answer    string                               // what that server answered when it was asked for an outline
	session   int                                  // how many times it had been reached when it was looked at
	complete  time.Time                            // when everything was read from it

	noCatalog bool   // the image can only be run: it holds no file-based catalog
	seenPod   string // the pod that serves now
	pod       string // the pod whose content is known
	polled    string // what the registry says that the image is now, not yet compared with what runs
	update    string // why the last update of the pod failed
}

// entry is what the rest of the program gets to see.
func (k content) entry() catalogset.Entry {
	e := catalogset.Entry{Index: k.index}
	switch {
	case k.invalid != nil:
		e.Problem = k.invalid.Error()
	case k.problem != nil:
		e.Problem = k.problem.Error()
	}
	return e
}

// after is what is known once the catalog was looked at.
func (k content) after(r reading, err error, now time.Time) content {
	k.looked = now
	k.merge(r)
	if hasNoCatalog(err) {
		k.noCatalog, k.problem, k.attempts = true, nil, 0
		return k
	}
	if err != nil {
		k.problem = err
		k.attempts++
		return k
	}
	k.problem, k.attempts = nil, 0
	if r.index != nil {
		k.noCatalog = k.noCatalog && r.pod != ""
		k.index, k.digest, k.loaded = r.index, r.digest, now
		k.warnings = describe(r.index.Problems())
	}
	return k
}

// merge takes over what a reading says about the origin, also when the content could not be read.
func (k *content) merge(r reading) {
	if r.configMap != nil {
		k.configMap = r.configMap
	}
	if r.answer != "" {
		k.answer, k.session = r.answer, r.session
	}
	if r.polled != "" {
		k.polled = r.polled
	}
	if r.pod != "" {
		k.pod = r.pod
	}
	if !r.complete.IsZero() {
		k.complete = r.complete
	}
}

// validate tells what is wrong with a spec that cannot be acted on.
func validate(source *v1alpha1.CatalogSource) error {
	spec := source.Spec
	switch spec.SourceType {
	case v1alpha1.SourceTypeGrpc:
		if spec.Image == "" && spec.Address == "" {
			return errors.New("image and address unset: at least one must be set for sourcetype: grpc")
		}
		return nil
	case v1alpha1.SourceTypeConfigmap, v1alpha1.SourceTypeInternal:
		if spec.ConfigMap == "" {
			return fmt.Errorf("configmap name unset: must be set for sourcetype: %s", spec.SourceType)
		}
		return nil
	}
	return fmt.Errorf("unknown sourcetype: %s", spec.SourceType)
}

// fingerprint is the part of the spec that says which content is wanted.
func fingerprint(source *v1alpha1.CatalogSource) string {
	spec := source.Spec
	return fmt.Sprintf("%q %q %q %q %q", spec.SourceType, spec.Image, spec.Address, spec.ConfigMap, spec.Secrets)
}

func isConfigMap(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeConfigmap || source.Spec.SourceType == v1alpha1.SourceTypeInternal
}

// isAddress tells whether the catalog is that of a server which somebody else runs.
func isAddress(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeGrpc && source.Spec.Image == "" && source.Spec.Address != ""
}
