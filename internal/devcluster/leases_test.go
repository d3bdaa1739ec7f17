package devcluster

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{changed: make(chan struct{}, 1)}
		idle := l.idle(20 * time.Second)
		for range 2 {
			if !l.take() {
				t.Fatal("a new cluster gives no lease")
			}
		}
		time.Sleep(time.Hour)
		l.giveBack()
		time.Sleep(time.Hour)
		expectOpen(t, idle, "while one of two leases is held")
		l.giveBack()
		time.Sleep(19 * time.Second)
		expectOpen(t, idle, "before the time is up")
		if !l.take() {
			t.Fatal("no lease before the time is up")
		}
		time.Sleep(time.Hour)
		expectOpen(t, idle, "while the later lease is held")
		l.giveBack()
		time.Sleep(21 * time.Second)
		select {
		case <-idle:
		default:
			t.Error("not idle after the last lease")
		}
		if l.take() {
			t.Error("a stopping cluster gives a lease")
		}
	})
}

func expectOpen(t *testing.T, idle <-chan struct{}, when string) {
	t.Helper()
	synctest.Wait()
	select {
	case <-idle:
		t.Fatalf("idle %s", when)
	default:
	}
}

func TestNeverIdleWithoutTimeout(t *testing.T) {
	if (&leases{changed: make(chan struct{}, 1)}).idle(0) != nil {
		t.Error("a cluster without idle timeout has one")
	}
}
