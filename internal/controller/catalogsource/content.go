package catalogsource

import (
	"errors"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"

	"k8s.io/apimachinery/pkg/types"
)

// content is what is known of a catalog from checking where it comes from.
type content struct {
	uid      types.UID
	spec     string // what was asked for: a change makes everything else void but the index
	desired  string // the same for people
	served   string // what the index was made from, for people
	index    *catalog.Index
	loaded   time.Time // when the index was made
	reached  time.Time // when this process read it again, or for the first time, as the status reports it
	digest   string    // of what the index was made from
	earlier  bool      // another build of the program made the index, which may judge catalogs in another way
	warnings string    // what is wrong in a catalog that is served all the same
	invalid  error     // the spec cannot be acted on; nothing is retried until it changes
	problem  error     // why the desired content is not there
	attempts int       // failures in a row
	looked   time.Time // when it was last checked
	tried    string    // the signature policy when that began
	reread   int       // how many times the registry server had been reached when that began
	asked    time.Time // when the registry of its image was last asked
	secrets  int       // the sign of the Secrets when it was last checked

	configMap *v1alpha1.ConfigMapResourceReference // which the index was made from
	notes     string                               // what of its manifests is not served as it is written
	answer    string                               // what that server answered when it was asked for an outline
	session   int                                  // how many times it had been reached when it was checked
	complete  time.Time                            // when everything was read from it

	noCatalog bool   // the image can only be run: it holds no file-based catalog
	seenPod   string // the pod that serves now
	pod       string // the pod whose content is known; empty for content that was read otherwise
	polled    string // what the registry says that the image is now, not yet compared with what runs
	update    string // why the last update of the pod failed

	// signatures are those of the image that the content was read from; of a catalog that is served by a pod, of the image that is to run.
	signatures image.Content
	ran        ranImage   // the image that the content was read from, where the signatures may be those of another: of its pod, or set aside
	setAside   bool       // the manager has read the content by itself, and the signatures may be those of an image that is to run
	podVerdict podVerdict // on the image that is to run
	withheld   bool       // of what is shown: there is content that is not
}

// image is the reference of the image that the content is from; empty for content of another origin.
func (k content) image() string {
	if k.pod != "" || k.setAside {
		return k.ran.Image
	}
	return k.signatures.Image
}

// remarks are what is wrong in a catalog that is served all the same.
func (k content) remarks() string {
	if k.warnings == "" || k.notes == "" {
		return k.warnings + k.notes
	}
	return k.warnings + "; " + k.notes
}

// outdated reports whether the content that is served is that of something else than what is asked for now.
func (k content) outdated() bool { return k.index != nil && k.served != k.desired }

// has reports whether the index is that of a content, as this build of the program makes it.
func (k content) has(digest string) bool { return k.index != nil && k.digest == digest && !k.earlier }

// after is what is known once the catalog was checked. What the policy as it is by now has decided on the image that is to run holds,
// whatever a reading says of it that began under another.
func (k content) after(r reading, err error, now time.Time, seen signs) content {
	if seen.podded && (err != nil || r.pod != "") && k.signatures.Policy == seen.policy && r.signatures.Policy != seen.policy {
		if image.IsUnverified(err) {
			return k // it is to be reconciled under this policy
		}
		r.signatures = image.Judgement{}
	}
	k.looked = now
	if r.asked || r.polled != "" {
		k.asked = now
	}
	// Adopt what a reading says about the origin, also when the content could not be read.
	if r.configMap != nil {
		k.configMap = r.configMap
	}
	if r.answer != "" {
		k.answer, k.session = r.answer, r.session
	}
	if r.polled != "" {
		k.polled = r.polled
	}
	if !r.complete.IsZero() {
		k.complete = r.complete
	}
	k.signatures = k.signatures.After(r.signatures, err)
	if err != nil && r.signatures.Served != nil && r.ran.Image != "" {
		k.signatures.Image = r.ran.Image // the verdict is on the image that the content was read from
		if k.pod == "" {
			k.ran, k.setAside = ranImage{}, false
		}
	}
	if errors.Is(err, image.ErrNoCatalog) {
		k.noCatalog, k.problem, k.attempts = true, nil, 0
		return k
	}
	if err != nil {
		k.problem = err
		k.attempts++
		return k
	}
	if r.signatures.Image == "" && r.pod == "" {
		k.signatures = image.Content{} // it is not the content of an image
	}
	if r.signatures.Image != "" {
		k.podVerdict = podVerdict{}
	}
	k.pod, k.ran, k.setAside, k.answer = r.pod, r.ran, false, r.answer
	k.problem, k.attempts, k.served, k.notes = nil, 0, k.desired, r.notes
	if r.index != nil {
		k.noCatalog = k.noCatalog && r.pod != ""
		k.index, k.digest, k.loaded, k.earlier = r.index, r.digest, now, false
		k.warnings = unserved(r.index)
	}
	return k
}

// unserved describes what of a catalog is not served. The notes on a ConfigMap say it of manifests.
func unserved(x *catalog.Index) string {
	return catalogstore.DescribeProblems(slices.DeleteFunc(slices.Clone(x.Problems()), catalogstore.Noted), "is not served")
}

// imagePlace begins the place of a catalog in an image.
const imagePlace = "image "

func isConfigMap(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeConfigmap || source.Spec.SourceType == v1alpha1.SourceTypeInternal
}

// isAddress reports whether the catalog is that of a server which another client runs.
func isAddress(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeGrpc && source.Spec.Image == "" && source.Spec.Address != ""
}
