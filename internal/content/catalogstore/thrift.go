package catalogstore

import (
	"runtime/debug"
	"sync"
)

// thriftyPercent is by how much the heap may grow between two collections while a catalog is read. The default, 100, lets it become twice of
// all that the process holds; reading a catalog produces garbage all the time, so it does. This costs a sixth of processor time more, and
// only then.
const thriftyPercent = 25

var thrift struct {
	mu      sync.Mutex
	readers int
	before  int
}

// thrifty makes the garbage collector run more often until the function that it returns is called.
func thrifty() (end func()) {
	thrift.mu.Lock()
	defer thrift.mu.Unlock()
	if thrift.readers == 0 {
		thrift.before = debug.SetGCPercent(thriftyPercent)
		if thrift.before >= 0 && thrift.before < thriftyPercent { // somebody wants it to be thriftier still
			debug.SetGCPercent(thrift.before)
		}
	}
	thrift.readers++
	return sync.OnceFunc(func() {
		thrift.mu.Lock()
		defer thrift.mu.Unlock()
		if thrift.readers--; thrift.readers == 0 {
			debug.SetGCPercent(thrift.before)
		}
	})
}
