package demo

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

func TestAnInterruptIsNoTimeout(t *testing.T) {
	d := &Demo{options: Options{Timeout: time.Minute}, scene: newScene(), manager: make(chan error), events: make(chan watch.Event)}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := d.follow(ctx, func(*scene) bool { return false }); !errors.Is(err, ErrInterrupted) {
		t.Errorf("an interrupted demo says %v", err)
	}
}
