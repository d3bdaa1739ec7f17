package devcluster

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/test/must"
)

// deployment is a Deployment of simulated pods that carry the label app=name.
func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "simulated"}}},
			},
		},
	}
}

// eventually polls until the condition holds.
func eventually(t testing.TB, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	must.NoErrorf(t, wait.PollUntilContextTimeout(t.Context(), pollInterval, 20*time.Second, true, condition), "%s", what)
}

func awaitAvailable(t testing.TB, client kubernetes.Interface, namespace, name string, replicas int32) {
	t.Helper()
	eventually(t, "Deployment "+name+" becomes available", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == replicas, err
	})
}

func TestDeploymentBecomesAvailable(t *testing.T) {
	client, namespace := fixtureClient(t), Namespace(t)
	began := time.Now()
	must.Value(client.AppsV1().Deployments(namespace).Create(t.Context(), deployment("web", 3), metav1.CreateOptions{}))(t)
	awaitAvailable(t, client, namespace, "web", 3)
	t.Logf("available after %s", time.Since(began))
}

func TestJobCompletes(t *testing.T) {
	client, namespace := fixtureClient(t), Namespace(t)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "once"},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "simulated"}}}}},
	}
	must.Value(client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{}))(t)
	eventually(t, "the Job completes", func(ctx context.Context) (bool, error) {
		now, err := client.BatchV1().Jobs(namespace).Get(ctx, "once", metav1.GetOptions{})
		return err == nil && now.Status.Succeeded == 1, err
	})
}

func TestPodOfTheHostNetworkHasTheNodesAddress(t *testing.T) {
	client, namespace := fixtureClient(t), Namespace(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "host"},
		Spec:       corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "main", Image: "simulated"}}},
	}
	must.Value(client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}))(t)
	eventually(t, "the pod runs", func(ctx context.Context) (bool, error) {
		now, err := client.CoreV1().Pods(namespace).Get(ctx, "host", metav1.GetOptions{})
		if err != nil || now.Status.Phase != corev1.PodRunning {
			return false, err
		}
		if now.Status.PodIP == "" || now.Status.PodIP != now.Status.HostIP {
			t.Errorf("the pod has the address %q, its node %q", now.Status.PodIP, now.Status.HostIP)
		}
		return true, nil
	})
}

func TestDeletedOwnerTakesItsObjectsAlong(t *testing.T) {
	client, namespace := fixtureClient(t), Namespace(t)
	must.Value(client.AppsV1().Deployments(namespace).Create(t.Context(), deployment("gone", 1), metav1.CreateOptions{}))(t)
	awaitAvailable(t, client, namespace, "gone", 1)
	must.NoError(t, client.AppsV1().Deployments(namespace).Delete(t.Context(), "gone", background))
	eventually(t, "the pods are gone", func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
}
