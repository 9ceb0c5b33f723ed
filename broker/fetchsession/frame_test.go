package fetchsession_test

import "unsafe"

// unsafeString is a string over a frame's bytes, as the server decodes it.
func unsafeString(b []byte) string { return unsafe.String(&b[0], len(b)) }
