package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
)

// template brings the image of the spec in line with its template, if it has one. Until that is possible the catalog is what its spec says.
func (c *Controller) template(ctx context.Context, source *v1alpha1.CatalogSource) (template, error) {
	if source.Annotations[v1alpha1.CatalogImageTemplateAnnotation] == "" {
		return template{}, nil
	}
	t := resolveTemplate(source, c.cluster.Get(ctx))
	if !(t.text != "" && t.wrong == "" && source.Spec.Image != t.image) {
		return t, nil
	}
	changed := source.DeepCopy()
	changed.Spec.Image = t.image
	if err := c.client.Patch(ctx, changed, client.MergeFrom(source), fieldOwner); err != nil {
		err = fmt.Errorf("set spec.image of CatalogSource %s/%s to what its template comes to: %w", source.Namespace, source.Name, err)
		if !reconcile.IsTransient(err) {
			t.wrong = messages.Error(err)
		}
		return t, err
	}
	*source = *changed
	return t, nil
}

// recall returns what is known. Right after a start that is what an earlier run has left, so that a registry that is down, or slow, does
// not keep from being served what was served before. Of an object that was deleted, however quickly another one took its name, nothing is
// left: what it served was never asked for by the other one.
func (c *Controller) recall(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource) content {
	known, seen := c.memory.recall(ref, source)
	if known.uid != "" && known.uid != source.UID {
		c.forget(ref)
		known, seen = c.memory.recall(ref, source)
	}
	if !seen {
		known = c.records.restore(ctx, ref, known)
		if known.pod != "" && known.signatures.Pending && !c.pods.desired(source, known) {
			// What a pod has answered is not proven to be what the image holds, which the manager reads by itself now.
			known = content{spec: known.spec}
		}
		known = c.resume(source, known)
	}
	known.uid, known.desired, known.invalid = source.UID, imagePlace+source.Spec.Image, source.Spec.Validate()
	switch {
	case isConfigMap(source):
		known.desired = "ConfigMap " + source.Spec.ConfigMap
	case isAddress(source):
		known.desired = "the registry server at " + source.Spec.Address
	}
	if known.invalid != nil {
		// The one who changes the spec wants something else than was served; that must not continue being installed.
		known.index, known.digest, known.looked, known.signatures = nil, "", c.clock.Now(), image.Content{}
	}
	return known
}

// resume continues with the interval of polls where an earlier run has ended, if all was well then.
func (c *Controller) resume(source *v1alpha1.CatalogSource, known content) content {
	last, now := source.Status.LatestImageRegistryPoll, c.clock.Now()
	well := source.Status.Reason == "" || source.Status.Reason == v1alpha1.CatalogSourceIntervalInvalidError
	if known.index == nil || known.earlier || known.signatures.Pending || last == nil || !well || !pollsImage(source) || c.pods.desired(source, known) || last.After(now) {
		return known
	}
	known.looked, known.asked = last.Time, last.Time
	return known
}

// look looks for signs that there is something new.
func (c *Controller) look(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known content) (signs, error) {
	podded := c.pods.desired(source, known)
	if !isAddress(source) && !podded {
		c.links.close(ref)
	}
	if !isConfigMap(source) {
		return signs{session: c.links.state(ref).session, secrets: c.secrets.follow(ref, source.Spec.Secrets), podded: podded}, nil
	}
	c.secrets.follow(ref, nil)
	var object metav1.PartialObjectMetadata
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := c.client.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}, &object)
	if client.IgnoreNotFound(err) != nil {
		return signs{}, fmt.Errorf("look for ConfigMap %s/%s, which spec.configMap names: %w", source.Namespace, source.Spec.ConfigMap, err)
	}
	return signs{configMap: object.ResourceVersion}, nil
}

// runPod keeps the pod of a catalog, and sees what answers. Its error is why a pod that may not run is still there.
func (c *Controller) runPod(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known *content, seen *signs) (offer, error) {
	run := c.runnable(ctx, ref, source, known, *seen)
	switch {
	case run.source == nil && run.err == nil:
		known.seenPod = ""
		return offer{podded: true, undecided: true, again: run.again, waiting: "the signatures of its image are being verified"}, nil
	case run.source == nil:
		known.seenPod, known.polled = "", "" // there is no pod to compare with what was polled
		var runs error
		if run.stop {
			changes, err := c.pods.keeper.Stop(ctx, source, "the signature policy refuses its image")
			for _, change := range changes {
				ctrl.LoggerFrom(ctx).Info("the image of a catalog is refused and runs no more", "change", change)
			}
			runs = err
		}
		offered := offer{podded: true, err: fmt.Errorf("run the image: %w", run.err), refused: !cluster(run.err)}
		if runs != nil && !reconcile.IsTransient(runs) {
			offered.err = errors.Join(offered.err, runs)
		}
		return offered, runs
	}
	offered := c.pods.keep(ctx, run, known, seen.secrets != known.secrets)
	if seen.pod = known.seenPod; seen.pod != "" {
		c.services.withdraw(ref) // until then this process continues answering, if it did before
	} else if offered.err == nil || offered.refused {
		known.secrets = seen.secrets
	}
	return offered, nil
}

// serve keeps the Service of a catalog that this process serves, and removes what was needed for a pod. Until something is known of an
// image it may be one that can only be run: what there is of it is left alone.
func (c *Controller) serve(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known content) offer {
	if known.invalid == nil && known.index == nil && !isConfigMap(source) && !isAddress(source) {
		c.services.withdraw(ref) // of content that is withheld
		return offer{undecided: true}
	}
	_, err := c.pods.keeper.Remove(ctx, source)
	if err != nil {
		return offer{err: err}
	}
	return c.services.keep(ctx, ref, source, known)
}

// refresh adopts what was read since the last time, or begins to read what is due. That the API server could not be asked says nothing
// of the catalog: it is an error, and not what is known.
func (c *Controller) refresh(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known content, seen signs) (content, error) {
	running, before := c.loads.of(ref, known.spec), known
	begins := running == nil
	if begins {
		if next, ever := due(source, known, seen); !ever || next.After(c.clock.Now()) {
			return known, nil
		}
		known.tried, known.reread = seen.policy, seen.session
		before = known
		from, asked := c.images, source.DeepCopy()
		switch {
		case seen.podded:
			from = c.pods
		case isConfigMap(source):
			from = c.configMaps
		case isAddress(source):
			from = c.addresses
		}
		running = c.loads.begin(ctx, ref, known.spec, seen.secrets, func(ctx context.Context) (reading, error) { return from.read(ctx, asked, before) })
	}
	if !c.wait(ctx, running, begins) {
		return known, nil
	}
	c.loads.end(ref)
	if unanswered(running.err) {
		return before, running.err
	}
	known = known.after(running.reading, running.err, c.clock.Now(), seen)
	known.secrets = running.secrets
	// Report whether a look brought other content than was known before, or was the first one of this process: the content may be that
	// of an earlier run until then.
	version := func(k content) string {
		if k.configMap == nil {
			return ""
		}
		return string(k.configMap.UID) + " " + k.configMap.ResourceVersion
	}
	if known.problem == nil && known.index != nil && (known.index != before.index || before.reached.IsZero() || version(known) != version(before)) {
		// When content counts as reached that was read now. Clients wait until lastConnect is after the time at which a change of a
		// ConfigMap was noticed, and after what it was before that change. Times in a status have a precision of a second, in which
		// content can be read several times, so the next full second is taken that was not reported yet.
		last := c.clock.Now()
		if before.reached.After(last) {
			last = before.reached
		}
		if state := source.Status.GRPCConnectionState; state != nil && state.LastConnectTime.After(last) {
			last = state.LastConnectTime.Time
		}
		known.reached = last.Truncate(time.Second).Add(time.Second)
	}
	if known.noCatalog != before.noCatalog {
		c.records.save(ctx, ref, known)
	}
	if running.reading.index != nil || known.ran != before.ran {
		c.records.save(ctx, ref, known)
	}
	if running.reading.index != nil {
		c.metrics.Loaded(ref.Namespace, ref.Name)
	}
	return known, nil
}

// wait reports whether a load, which this pass may have begun, is done, or becomes so in the time that there is for waiting.
func (c *Controller) wait(ctx context.Context, running *load, begun bool) bool {
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
		return running.wait(ctx, c.grace, begun)
	default:
		return running.wait(ctx, 0, begun)
	}
}
