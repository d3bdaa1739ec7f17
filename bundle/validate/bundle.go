package validate

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// The size that a bundle may have where bundles are unpacked into ConfigMaps: the sum of its files, compressed and in
// base64.
const (
	maxSize  = 1 << 20
	warnSize = maxSize * 85 / 100
)

// checkBundle checks what has to fit together.
func checkBundle(r recorder) {
	total := 0
	for _, f := range slices.Concat(r.Metadata, r.Manifests) {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		size := len(f.Data) // a buffer takes everything, so that this is never used
		if _, err := writer.Write(f.Data); err == nil && writer.Close() == nil {
			size = packed.Len()
		}
		total += base64.StdEncoding.EncodedLen(size)
	}
	switch {
	case total > maxSize:
		r.err(RuleSize, place{}, fmt.Sprintf("maximum bundle compressed size with gzip size exceeded: size=~%s, max=%s", megabytes(total), megabytes(maxSize)),
			"shorten descriptions in the schemas of CRDs, and remove what is not needed")
	case total > warnSize:
		r.warn(RuleSize, place{}, fmt.Sprintf("the compressed size is ~%s, near the limit of %s", megabytes(total), megabytes(maxSize)),
			"shorten descriptions in the schemas of CRDs")
	}
	checkAPIsOnce(r)
	checkObjectMeta(r)
	checkCatalogEntry(r)
	if r.csv == nil {
		return
	}
	checkServiceAccounts(r)
	checkRelease(r)
	for i, related := range r.csv.Spec.RelatedImages {
		at := r.csvPlace().in("spec.relatedImages[%d].image", i)
		if related.Image == "" {
			r.err(RuleRelatedImage, at, fmt.Sprintf("related image %q has no image", related.Name), "name the image")
		} else if _, err := reference.ParseNormalizedNamed(related.Image); err != nil {
			r.err(RuleRelatedImage, at, fmt.Sprintf("%q is not a reference to an image: %v", related.Image, err), "write it like registry.example.com/name@sha256:…")
		}
	}
}

func megabytes(size int) string { return fmt.Sprintf("%.2f MB", float64(size)/(1<<20)) }

// checkAPIsOnce finds two CRDs that define the same API.
func checkAPIsOnce(r recorder) {
	by := map[string]*unstructured.Unstructured{}
	for _, object := range r.Bundle.Objects {
		if object.GetKind() != crdKind {
			continue
		}
		crd, err := decodeCRD(object)
		if err != nil {
			continue // the validator crd reports it
		}
		for _, version := range crd.Spec.Versions {
			api := fmt.Sprintf("%s/%s %s", crd.Spec.Group, version.Name, crd.Spec.Names.Kind)
			first, taken := by[api]
			if taken && first.GetName() != object.GetName() {
				r.err(RuleAPITwice, r.objectPlace(object), fmt.Sprintf("%s is defined by %s as well", api, first.GetName()), "keep one of the CRDs")
			}
			by[api] = object
		}
	}
}

// checkServiceAccounts finds accounts that the bundle brings although they are made for its Deployments.
func checkServiceAccounts(r recorder) {
	used := map[string]string{}
	for _, d := range r.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		used[d.Spec.Template.Spec.ServiceAccountName] = d.Name
	}
	for _, object := range r.Bundle.Objects {
		if deployment, ok := used[object.GetName()]; ok && object.GetKind() == "ServiceAccount" {
			r.err(RuleServiceAccount, r.objectPlace(object),
				fmt.Sprintf("the account is that of Deployment %s, for which installation makes one, and removes it on upgrades", deployment),
				"remove the manifest, or rename the account")
		}
	}
}

func checkRelease(r recorder) {
	release := r.csv.Spec.Release
	if release.IsZero() {
		return
	}
	at := r.csvPlace()
	if substituted := r.csv.Annotations[v1alpha1.SubstitutesForAnnotation]; substituted != "" {
		r.err(RuleSubstitutes, at.in("metadata.annotations[%s]", v1alpha1.SubstitutesForAnnotation),
			"a bundle has either a release or substitutes another", "remove the annotation")
	}
	want := fmt.Sprintf("%s-v%s-%s", r.Bundle.Package, r.csv.Spec.Version, release)
	if r.Bundle.Package != "" && r.csv.Name != want {
		r.err(RuleReleaseName, at.in("metadata.name"), "the name of a bundle with a release is made of package, version and release", fmt.Sprintf("rename it to %s", want))
	}
}
