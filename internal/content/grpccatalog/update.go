package grpccatalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// UpdateWait is the time between two checks of the pod of an update that is not ready.
const UpdateWait = 30 * time.Second

// UpdatePod is the wanted pod as it is run to find out what the image is now. It serves no one until it is promoted.
func UpdatePod(wanted *corev1.Pod) *corev1.Pod {
	p := wanted.DeepCopy()
	p.Labels[v1alpha1.CatalogSourceUpdateLabel] = p.Labels[v1alpha1.CatalogSourceLabel]
	p.Labels[v1alpha1.CatalogSourceLabel] = ""
	return p
}

// promotedAnnotation is when the pod of an update began to serve.
const promotedAnnotation = "operators.fairlead.dev/promoted-at"

// PromotedLabels are what makes the pod of an update serve.
func PromotedLabels(wanted *corev1.Pod) map[string]string {
	return map[string]string{
		v1alpha1.CatalogSourceLabel:       wanted.Labels[v1alpha1.CatalogSourceLabel],
		v1alpha1.CatalogSourceUpdateLabel: "",
	}
}

// settleUpdate decides on the pods of updates, and returns the pods that serve as wanted after that.
func (d *Decision) settleUpdate(s Situation, in inventory) []*corev1.Pod {
	if len(in.updates) == 0 {
		return in.current
	}
	for _, p := range in.updates[1:] {
		d.add(Delete, p, graceReplaced, "a newer pod was started for an update")
	}
	p, serving := in.updates[0], first(in.current)
	switch {
	case !IsCurrent(p, s.Wanted):
		d.add(Delete, p, graceReplaced, "the spec changed since the update began")
	case isDead(p) || p.Status.Phase == corev1.PodUnknown || slices.ContainsFunc(containerStatuses(p), func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == crashLoop
	}):
		// End an update that came to nothing.
		d.Problem = fmt.Sprintf("pod %s, started for an update, failed: %s", p.Name, words(p))
		grace := int64(graceReplaced)
		if isDead(p) {
			grace = graceDead
		}
		d.add(Delete, p, grace, d.Problem)
	case serving == nil:
		return d.promote(s, in, p, "no pod serves")
	case !isReady(p):
		d.Waiting = fmt.Sprintf("pod %s, started for an update, is not ready: %s", p.Name, words(p))
		d.Again = UpdateWait
	case !isReady(serving):
		return d.promote(s, in, p, "no pod that serves is ready")
	case differ(p, serving):
		return d.promote(s, in, p, "it runs a newer image")
	default:
		// End an update that found nothing new, and remember what the registry calls the image
		if digest := p.Annotations[RegistryDigestAnnotation]; digest != "" && serving.Annotations[RegistryDigestAnnotation] != digest {
			d.add(Annotate, serving, 0, digest)
		}
		d.add(Delete, p, graceReplaced, "it runs the same image as the pod that serves")
	}
	return in.current
}

// promote makes a pod serve in place of all others. It is the only one that is current from then on, also for who decides again after
// an interruption: it is the newest.
func (d *Decision) promote(s Situation, in inventory, p *corev1.Pod, why string) []*corev1.Pod {
	p = p.DeepCopy()
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[promotedAnnotation] = s.Now.UTC().Format(time.RFC3339)
	d.add(Promote, p, 0, why)
	for key, value := range PromotedLabels(s.Wanted) {
		p.Labels[key] = value
	}
	return append([]*corev1.Pod{p}, in.current...)
}

// poll runs the image to find out what it is now, unless that is known.
func (d *Decision) poll(s Situation, in inventory) {
	if len(in.updates) > 0 {
		return // the poll before this one is only just over, or not yet
	}
	d.Polled = true
	_, digest, _ := strings.Cut(sourceImage(s.Wanted), "@")
	if digest != "" || runs(d.Serving, s.RegistryDigest) {
		return
	}
	p := UpdatePod(s.Wanted)
	p.Name = nameFor(p, s.Pods, "update")
	why := "a poll is due"
	if s.RegistryDigest != "" {
		why = "the registry names another digest, " + s.RegistryDigest
	}
	d.add(Create, p, 0, why)
	d.Again = UpdateWait
}

// sourceImage is the image of the catalog, as the wanted pod uses it.
func sourceImage(wanted *corev1.Pod) string {
	if c := named(wanted.Spec.InitContainers, extractContent); c != nil {
		return c.Image
	}
	return wanted.Spec.Containers[0].Image
}
