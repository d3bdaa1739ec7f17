package kubeconfig

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The end of a log that an overview reads: its last line is what is shown, and one may be long.
const (
	endLines = 3
	endBytes = 16 << 10
)

// Logs opens the ends of logs of a cluster, of a container or of the one before it.
func Logs(config *rest.Config) (func(ctx context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error), error) {
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s, for logs: %w", config.Host, err)
	}
	return func(ctx context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error) {
		options := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: new(int64(endLines)), LimitBytes: new(int64(endBytes))}
		return pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	}, nil
}
