package rollout

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// State is the health of a workload.
type State int

const (
	// Healthy workloads run as their latest spec asks for.
	Healthy State = iota
	// Missing workloads do not exist.
	Missing
	// Terminating workloads are being deleted.
	Terminating
	// Unobserved workloads have a status that is not about their latest spec yet.
	Unobserved
	// Stuck workloads have a rollout that their controller has given up, though pods of it or of an earlier spec may run.
	Stuck
	// Unready workloads are not available, or have pods of an earlier spec.
	Unready
	// ScaledToZero workloads run no pods, although their manifest asks for some.
	ScaledToZero
	// CrashLooping workloads have a container that ends again and again, though it may run at the moment: their rollout has failed as long as that is so.
	CrashLooping
	// Unproven workloads are available, and have not been so for long enough to know that they stay so.
	Unproven
)

// Health is what a workload's status comes to. Reason is one word for programs; Message is for people, and continues a sentence about the
// workload. Both are empty for Healthy.
type Health struct {
	State           State
	Reason, Message string
}

// DeploymentHealth judges a live Deployment; nil is none. Desired is its manifest; cause is why its pods do not run, as far as that is known. How many replicas may be unavailable is for the Deployment itself to judge.
func DeploymentHealth(desired, live *appsv1.Deployment, cause string) Health {
	if live == nil {
		return Health{Missing, "Missing", "it does not exist"}
	}
	conditions := map[appsv1.DeploymentConditionType]appsv1.DeploymentCondition{}
	for _, c := range live.Status.Conditions {
		conditions[c.Type] = c
	}
	available, known := conditions[appsv1.DeploymentAvailable]
	failure, progressing := conditions[appsv1.DeploymentReplicaFailure], conditions[appsv1.DeploymentProgressing]
	state, reason, detail := Unready, "Unavailable", ""
	switch old := live.Status.Replicas - live.Status.UpdatedReplicas; {
	case failure.Status == corev1.ConditionTrue:
		detail = failure.Message
	case old > 0:
		detail = fmt.Sprintf("%d old replicas are pending termination", old)
	case !known:
		detail = "no pod is available yet"
	case available.Status != corev1.ConditionTrue:
		detail = cmp.Or(available.Message, available.Reason, "it is not available")
	}
	if progressing.Reason == "ProgressDeadlineExceeded" {
		state, reason = Stuck, progressing.Reason
		given := cmp.Or(progressing.Message, progressing.Reason)
		if detail = given; failure.Status == corev1.ConditionTrue {
			detail = failure.Message + "; " + given // no pod was made: what forbade that is the cause
		}
	}
	return assess(live, Health{state, reason, detail}, cause, desired.Spec.Replicas, live.Spec.Replicas, live.Status.ObservedGeneration)
}

// StatefulSetHealth judges a live StatefulSet as DeploymentHealth does a Deployment. All of its replicas have to be ready: it has no condition
// that would allow for fewer. Those that its update strategy leaves to people, all of OnDelete and those below a partition, may be of an earlier
// template.
func StatefulSetHealth(desired, live *appsv1.StatefulSet, cause string) Health {
	if live == nil {
		return Health{Missing, "Missing", "it does not exist"}
	}
	number, detail := int32(1), ""
	if live.Spec.Replicas != nil {
		number = *live.Spec.Replicas
	}
	updated := number
	if strategy := live.Spec.UpdateStrategy; strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		updated = 0
	} else if rolling := strategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		updated = max(0, number-*rolling.Partition)
	}
	switch {
	case live.Status.UpdatedReplicas < updated:
		detail = fmt.Sprintf("%d of %d replicas are updated", live.Status.UpdatedReplicas, updated)
	case live.Status.ReadyReplicas < number:
		detail = fmt.Sprintf("%d of %d replicas are ready", live.Status.ReadyReplicas, number)
	case live.Spec.MinReadySeconds > 0 && live.Status.AvailableReplicas < number:
		detail = fmt.Sprintf("%d of %d replicas are available", live.Status.AvailableReplicas, number)
	}
	return assess(live, Health{Unready, "Unavailable", detail}, cause, desired.Spec.Replicas, live.Spec.Replicas, live.Status.ObservedGeneration)
}

// assess puts what holds of every workload before and after what its kind reports, which is without a message when that is nothing.
func assess(live client.Object, reported Health, cause string, desired, replicas *int32, observed int64) Health {
	switch {
	case live.GetDeletionTimestamp() != nil:
		return Health{Terminating, "Terminating", "it is being deleted"}
	case observed < live.GetGeneration():
		return Health{Unobserved, "Unobserved", "rollout not yet observed"}
	case reported.Message != "":
		if cause != "" { // which says more than that pods are missing, or that old ones are still there
			reported.Message = cause + "; " + reported.Message
		}
		return reported
	case replicas != nil && *replicas == 0 && (desired == nil || *desired != 0):
		// Whether a person or an autoscaler did that makes no difference to the users of the operator's API.
		kind := "Deployment"
		if _, ok := live.(*appsv1.StatefulSet); ok {
			kind = "StatefulSet"
		}
		return Health{ScaledToZero, "ScaledToZero", fmt.Sprintf("%s %s is scaled to 0 replicas; scale it up again", kind, live.GetName())}
	}
	return Health{}
}

// WorkloadProbe waits until a Deployment or StatefulSet is healthy; nil is for desired objects of other kinds. Seen is called with what it was judged to be.
func WorkloadProbe(ctx context.Context, desired *unstructured.Unstructured, judge Judge, seen func(Health)) Probe {
	switch desired.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}:
		return workloadProbe(ctx, desired, judge, DeploymentHealth, seen)
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}:
		return workloadProbe(ctx, desired, judge, StatefulSetHealth, seen)
	}
	return nil
}

func workloadProbe[T any, P interface {
	*T
	client.Object
}](ctx context.Context, desired *unstructured.Unstructured, judge Judge, status func(desired, live P, cause string) Health, seen func(Health)) Probe {
	return func(u *unstructured.Unstructured) string {
		manifest, live := P(new(T)), P(new(T))
		for object, into := range map[*unstructured.Unstructured]P{desired: manifest, u: live} {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
				return fmt.Sprintf("it cannot be read as a %s: %v", object.GetKind(), err)
			}
		}
		health := judge.judge(ctx, live, func(cause string) Health { return status(manifest, live, cause) })
		seen(health)
		return health.Message
	}
}
