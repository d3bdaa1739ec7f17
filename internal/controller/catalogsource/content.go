package catalogsource

import (
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/trouble"

	"k8s.io/apimachinery/pkg/types"
)

// content is what is known of a catalog from looking at where it comes from.
type content struct {
	uid      types.UID
	spec     string // what was asked for: a change makes everything else void but the index
	wanted   string // the same for people
	served   string // what the index was made from, for people
	index    *catalog.Index
	loaded   time.Time // when the index was made
	digest   string    // of what the index was made from
	earlier  bool      // another build of the program made the index, which may judge catalogs in another way
	warnings string    // what is wrong in a catalog that is served all the same
	invalid  error     // the spec cannot be acted on; nothing is retried until it changes
	problem  error     // why the wanted content is not there
	attempts int       // failures in a row
	looked   time.Time // when it was last looked at
	asked    time.Time // when the registry of its image was last asked
	secrets  int       // the sign of the Secrets when it was last looked at

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
		e.Problem = trouble.Text(k.invalid)
	case k.problem != nil:
		e.Problem = trouble.Text(k.problem)
	}
	return e
}

// outdated tells whether the content that is served is that of something else than what is asked for now.
func (k content) outdated() bool { return k.index != nil && k.served != k.wanted }

// has tells whether the index is that of a content, as this build of the program makes it.
func (k content) has(digest string) bool { return k.index != nil && k.digest == digest && !k.earlier }

// after is what is known once the catalog was looked at.
func (k content) after(r reading, err error, now time.Time) content {
	k.looked = now
	if r.asked || r.polled != "" {
		k.asked = now
	}
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
	k.problem, k.attempts, k.served = nil, 0, k.wanted
	if r.index != nil {
		k.noCatalog = k.noCatalog && r.pod != ""
		k.index, k.digest, k.loaded, k.earlier = r.index, r.digest, now, false
		k.warnings = catalogset.Describe(r.index.Problems(), "is not served")
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

// fingerprint is the part of an object that says which content is wanted. One that was deleted and made again is another.
func fingerprint(source *v1alpha1.CatalogSource) string {
	spec := source.Spec
	return fmt.Sprintf("%q %q %q %q %q %q", source.UID, spec.SourceType, spec.Image, spec.Address, spec.ConfigMap, spec.Secrets)
}

// place says for people where the content of a catalog comes from.
func place(source *v1alpha1.CatalogSource) string {
	switch {
	case isConfigMap(source):
		return "ConfigMap " + source.Spec.ConfigMap
	case isAddress(source):
		return "the registry server at " + source.Spec.Address
	}
	return "image " + source.Spec.Image
}

func isConfigMap(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeConfigmap || source.Spec.SourceType == v1alpha1.SourceTypeInternal
}

// isAddress tells whether the catalog is that of a server which somebody else runs.
func isAddress(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeGrpc && source.Spec.Image == "" && source.Spec.Address != ""
}
