package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientrecord "k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PodAnnotation is for CatalogSources with an image: its content is to be served by a pod ("true") or by the manager ("false"). Images
// without a file-based catalog are served by a pod in any case.
const PodAnnotation = "operators.fairlead.dev/catalog-pod"

// PodOptions say which images are run as pods, and how.
type PodOptions struct {
	// Always runs the images of all catalogs.
	Always   bool
	Settings grpccatalog.Settings
}

// isRun says why there is a pod that no one asked for: the image may be the wrong one.
const isRun = "the image holds no file-based catalog, so it is run as a registry server"

// pods are the catalogs whose images are run.
type pods struct {
	keeper  *grpccatalog.Keeper
	always  bool
	reader  imageReader
	secrets client.Reader
	// verifier verifies the images that are run; nil for a process without signature policies.
	verifier image.Images
	server   addresses
	events   clientrecord.EventRecorder // nil records none
	without  sync.Map                   // types.UID of a catalog to the digest of its image that was found to hold no catalog
}

// desired reports whether a catalog is to be served by a pod.
func (p *pods) desired(source *v1alpha1.CatalogSource, known content) bool {
	if known.invalid != nil || isConfigMap(source) || isAddress(source) {
		return false
	}
	return known.noCatalog || p.asked(source)
}

// asked reports whether a user wants a pod that is not needed.
func (p *pods) asked(source *v1alpha1.CatalogSource) bool {
	switch source.Annotations[PodAnnotation] {
	case "true":
		return true
	case "false":
		return false
	}
	return p.always
}

// keep brings the pod of a catalog and all that belongs to it about, and says what of it answers.
func (p *pods) keep(ctx context.Context, run runnable, known *content, otherSecrets bool) offer {
	out, err := p.keeper.Ensure(ctx, grpccatalog.Request{Source: run.source, PollDue: known.polled != "", RegistryDigest: known.polled, Verified: run.verified,
		Now: p.server.clock.Now(), PullAgain: otherSecrets})
	offered := offer{podded: true, waiting: out.Waiting, failing: out.Failing, again: out.Again}
	if err != nil {
		offered.err = fmt.Errorf("run the image: %w", err)
	} else if known.polled != "" {
		known.polled, known.update = "", ""
	}
	if out.Problem != "" {
		known.update = out.Problem
	}
	if offered.err == nil && known.update != "" {
		offered.err = errors.New(known.update)
	}
	if offered.err == nil && run.err != nil {
		offered.err, offered.refused = fmt.Errorf("run the newer image: %w", run.err), !cluster(run.err)
	}
	if known.noCatalog && offered.waiting != "" {
		offered.waiting = isRun + ": " + offered.waiting
	}
	if known.noCatalog && offered.err != nil {
		offered.err = fmt.Errorf("%s: %w", isRun, offered.err)
	}
	if out.Service != nil {
		offered.service, offered.createdAt = out.Service.ServiceName, out.Service.CreatedAt
	}
	known.seenPod = ""
	if out.Serving != nil && out.Ready && out.Current {
		known.seenPod = string(out.Serving.UID)
	}
	return offered
}

// read asks the registry for the digest of the image, when that is to be polled, and the pod for its catalog.
func (p *pods) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	if known.noCatalog && known.index == nil {
		// The one who pushed a wrong image by mistake may have pushed a right one since.
		if found, err := (images{p.reader, p.secrets, p.verifier}).read(ctx, source, known); err == nil || known.seenPod == "" {
			return found, err
		}
	}
	var polled string
	var judged image.Judgement
	if known.index != nil && pollsImage(source) {
		auth, err := bundleio.PullSecrets(ctx, p.secrets, source.Namespace, source.Spec.Secrets)
		if err != nil {
			err = secretError{err}
		} else {
			polled, err = p.reader.Digest(ctx, source.Spec.Image, auth)
		}
		attempt := image.BeginAttempt(p.verifier, source.Spec.Image, auth)
		if err == nil {
			err = attempt.Verify(ctx, image.VerifyOptions{Digest: polled})
		}
		judged = attempt.Judgement(ctx, err, known.signatures, known.signatures.Digest())
		if err != nil {
			return reading{signatures: judged}, fmt.Errorf("look for a newer image: %w", err)
		}
		if before, ok := p.without.Load(source.UID); known.noCatalog && (!ok || before != polled) {
			// The image is run because it held no catalog. It is another image now, and may hold one.
			found, err := (images{p.reader, p.secrets, p.verifier}).read(ctx, source, content{})
			if err == nil && p.events != nil && !p.asked(source) {
				p.events.Eventf(source, corev1.EventTypeNormal, "ServedByManager",
					"image %s, now %s, holds a file-based catalog: the manager serves it, and its pod is removed", source.Spec.Image, found.digest)
			}
			switch {
			case err == nil:
				return found, nil
			case !errors.Is(err, image.ErrNoCatalog):
				return reading{}, fmt.Errorf("look whether the newer image holds a file-based catalog: %w", err)
			}
			p.without.Store(source.UID, polled)
		}
	}
	if known.pod != known.seenPod {
		known.answer = "" // another pod may serve other content under the same outline
	}
	address := grpccatalog.ServiceStatus(source, metav1.Time{}).Address()
	found, err := p.server.readFrom(ctx, source, known, address, nil)
	if err != nil && known.noCatalog {
		err = fmt.Errorf("%s: %w", isRun, err)
	}
	found.polled, found.pod, found.ran, found.signatures = polled, known.seenPod, ranBy(source.Spec.Image, known.signatures), judged
	return found, err
}
