package realnode

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

// fault is a way in which an operator does not come to run.
type fault struct {
	change fixture.Change
	// says is in the status of the ClusterServiceVersion and of the ClusterExtension.
	says []string
	// shows is in what fairlead status prints besides: what is known of pods and their logs alone.
	shows []string
	// loops is of one that ends again and again: it has failed, and does not begin to work between two runs.
	loops bool
	// namespace changes the namespace, and objects are in it.
	namespace func(*corev1.Namespace)
	objects   []client.Object
}

// probe asks the program for what it answers with 503.
func probe(period int32) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}, PeriodSeconds: period, FailureThreshold: 2}
}

// knownFaults are the ways in which pods fail, each by the name of its package.
func (w *world) knownFaults() map[string]fault {
	short := int64(1)
	alive := func(args ...string) fixture.Change {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			w.runs(args...)(csv)
			pods(func(p *corev1.PodSpec) { p.TerminationGracePeriodSeconds = &short })(csv)
			first(func(c *corev1.Container) { c.LivenessProbe = probe(1) })(csv)
		}
	}
	missing := corev1.LocalObjectReference{Name: "missing-settings"}
	return map[string]fault{
		"bad-image": {change: first(func(c *corev1.Container) { c.Image = w.status.Registry + "/test/missing:1" }),
			says: []string{"image " + w.status.Registry + "/test/missing:1 cannot be pulled", "not found"}},
		"missing-secret": {change: first(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: missing}}}
		}), says: []string{`CreateContainerConfigError: secret "missing-settings" not found`}},
		"missing-volume": {change: pods(func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: missing.Name}}}}
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/settings"}}
		}), says: []string{"cannot start: FailedMount", `secret "missing-settings" not found`}},
		"bad-entry-point": {change: first(func(c *corev1.Container) { c.Command = []string{"/operator"} }),
			says: []string{"cannot start", `exec: "/operator"`, "no such file or directory"}},
		"exit-3": {change: w.runs("exit", "3", "0s"), loops: true, says: []string{"keeps exiting with code 3 (Error)"},
			shows: []string{"cannot read the configuration: /etc/config: no such file"}},
		"exit-3-message": {change: func(csv *v1alpha1.ClusterServiceVersion) {
			w.runs("exit", "3", "0s")(csv)
			first(func(c *corev1.Container) { c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError })(csv)
		}, loops: true, says: []string{"keeps exiting with code 3 (Error): cannot read the configuration: /etc/config: no such file"}},
		"panic": {change: func(csv *v1alpha1.ClusterServiceVersion) {
			w.runs("panic")(csv)
			first(func(c *corev1.Container) { c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError })(csv)
		}, loops: true, says: []string{"keeps exiting with code 2 (Error): panic: assignment to entry in nil map"}, shows: []string{"panic: assignment to entry in nil map"}},
		"memory": {change: func(csv *v1alpha1.ClusterServiceVersion) {
			w.runs("hog")(csv)
			first(func(c *corev1.Container) {
				c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("48Mi")}
			})(csv)
		}, loops: true, says: []string{"for its memory (OOMKilled): its limit is 48Mi"}},
		"not-ready": {change: func(csv *v1alpha1.ClusterServiceVersion) {
			w.runs("busy")(csv)
			first(func(c *corev1.Container) { c.ReadinessProbe = probe(1) })(csv)
		}, says: []string{"its readiness probe (GET http://:8080/healthz) does not succeed: HTTP probe failed with statuscode: 503"}},
		"not-alive": {change: alive("busy"), loops: true,
			says: []string{"is ended again and again: its liveness probe (GET http://:8080/healthz) does not succeed: HTTP probe failed with statuscode: 503"}},
		"not-alive-nor-ends": {change: alive("deaf"), loops: true,
			says: []string{"is ended again and again: its liveness probe (GET http://:8080/healthz) does not succeed: HTTP probe failed with statuscode: 503"}},
		"no-node": {change: pods(func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"example.com/disk": "fast"} }),
			says: []string{"cannot be scheduled: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector"}},
		"privileged": {change: first(func(c *corev1.Container) { c.SecurityContext = nil }),
			namespace: func(n *corev1.Namespace) {
				n.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
			},
			says: []string{"is forbidden: violates PodSecurity", "allowPrivilegeEscalation != false"}},
		"no-quota": {change: func(*v1alpha1.ClusterServiceVersion) {},
			objects: []client.Object{&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}},
			says:    []string{"is forbidden: exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0"}},
		// For Kubernetes it is available whenever it runs.
		"crash-after-start": {change: w.runs("exit", "3", "3s"), loops: true, says: []string{"keeps exiting with code 3 (Error)"}},
	}
}

func (w *world) samples() (all []sample) {
	for name, f := range w.knownFaults() {
		all = append(all, sample{pkg: name, version: "1.0.0", change: []fixture.Change{f.change}})
	}
	for name, f := range w.knownUpgrades() {
		all = append(all, sample{pkg: name, version: "1.0.0"}, sample{pkg: name, version: "1.1.0", change: []fixture.Change{fixture.Replacing(name + ".v1.0.0"), f.change}})
	}
	return append(append(all, w.webhookSamples()...), sample{pkg: "plain", version: "1.0.0"})
}

// faults installs an operator for each fault with both APIs, all at once, and asks both statuses and the command for the cause.
func (w *world) faults() {
	all := w.knownFaults()
	began := time.Now()
	for name, f := range all {
		for _, api := range []string{"v0", "v1"} {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api + "-" + name}}
			if f.namespace != nil {
				f.namespace(namespace)
			}
			if api == "v0" {
				w.subscribe(namespace, name, true)
			} else {
				w.extend(namespace, name)
			}
			for _, o := range f.objects {
				o := o.DeepCopyObject().(client.Object)
				o.SetNamespace(namespace.Name)
				w.make(o)
			}
		}
	}
	upgrades := w.beginUpgrades()
	w.Logf("%d operators are asked for after %s", 2*len(all), time.Since(began).Round(time.Second))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		for _, api := range []string{"v0", "v1"} {
			w.step(api+"/"+name, func(w *world) { w.fault(api, name, f) })
		}
	}
	w.endUpgrades(upgrades)
	w.Logf("all is said of %d operators after %s", 2*len(all), time.Since(began).Round(time.Second))
	for name := range all {
		w.remove(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}})
		for _, api := range []string{"v0", "v1"} {
			w.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api + "-" + name}})
		}
	}
}

// fault waits until a status has the cause of a fault, and asks the command for it.
func (w *world) fault(api, name string, f fault) {
	state := func(name string) (bool, string) { return w.csvState(name, name+".v1.0.0") }
	if api == "v1" {
		state = w.extensionState
	}
	limit := time.Minute
	if f.loops {
		limit = 2 * time.Minute // the kubelet waits longer each time until it begins a container again
	}
	must.EventuallyWithin(w, api+" says the cause", limit, func() error {
		failed, message := state(name)
		for _, part := range f.says {
			if !strings.Contains(message, part) {
				return fmt.Errorf("%q is not in: %s", part, message)
			}
		}
		if f.loops && !failed {
			return fmt.Errorf("it has not failed: %s", message)
		}
		return nil
	})
	_, message := state(name)
	w.Logf("%s", message)
	said, err := w.fairlead("status", name, "-n", api+"-"+name)
	if err == nil {
		w.Errorf("fairlead status is content with it: %s", said)
	}
	said = strings.Join(strings.Fields(said), " ") // lines are folded
	for _, part := range slices.Concat(f.says, f.shows) {
		must.Contain(w, "what fairlead status says", said, part)
	}
}

// csvState is what a ClusterServiceVersion says of an operator that was installed with the v0 API.
func (w *world) csvState(name, csvName string) (failed bool, message string) {
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: "v0-" + name, Name: csvName}, csv); err != nil {
		return false, err.Error()
	}
	return csv.Status.Phase == v1alpha1.CSVPhaseFailed, fmt.Sprintf("%s/%s: %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
}

// extensionState is what a ClusterExtension says.
func (w *world) extensionState(name string) (failed bool, message string) {
	e := &olmv1.ClusterExtension{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: name}, e); err != nil {
		return false, err.Error()
	}
	for _, c := range e.Status.Conditions {
		message += fmt.Sprintf("%s=%s/%s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	progress := meta.FindStatusCondition(e.Status.Conditions, olmv1.TypeProgressing)
	return progress != nil && progress.Status == metav1.ConditionFalse, message
}
