package controller_test

import (
	"slices"
	"testing"

	"barnabas/metadata/controller"
	"barnabas/metadata/znode"
)

func alive(ids ...int32) controller.Alive {
	return func(b int32) bool { return slices.Contains(ids, b) }
}

func TestElections(t *testing.T) {
	t.Parallel()
	type r = []int32
	check := func(name string, leader int32, isr r, ok bool, wantLeader int32, wantISR r) {
		t.Helper()
		if leader != wantLeader || !slices.Equal(isr, wantISR) || ok != (wantLeader >= 0) {
			t.Errorf("%s: leader %d, isr %v, %v; want %d, %v", name, leader, isr, ok, wantLeader, wantISR)
		}
	}
	leader, isr, ok := controller.ElectNew(r{1, 2, 3}, alive(2, 3))
	check("new", leader, isr, ok, 2, r{2, 3})
	leader, isr, ok = controller.ElectNew(r{1, 2}, alive())
	check("new, none alive", leader, isr, ok, -1, nil)

	leader, isr, recovery, ok := controller.ElectOffline(r{1, 2, 3}, r{3, 1, 2}, alive(2, 3), false)
	check("offline", leader, isr, ok, 2, r{3, 2})
	leader, isr, _, ok = controller.ElectOffline(r{1, 2, 3}, r{1}, alive(2, 3), false)
	check("offline, nobody in sync", leader, isr, ok, -1, nil)
	if recovery != znode.Recovered {
		t.Error("a clean election needs no recovery")
	}
	leader, isr, recovery, ok = controller.ElectOffline(r{1, 2, 3}, r{1}, alive(3, 2), true)
	check("unclean", leader, isr, ok, 2, r{2})
	if recovery != znode.Recovering {
		t.Error("an unclean election needs recovery")
	}

	leader, ok = controller.ElectPreferred(r{1, 2}, r{2, 1}, alive(1, 2))
	check("preferred", leader, nil, ok, 1, nil)
	leader, ok = controller.ElectPreferred(r{1, 2}, r{2}, alive(1, 2))
	check("preferred, not in sync", leader, nil, ok, -1, nil)
	leader, ok = controller.ElectReassigned(r{4, 5}, r{5, 1}, alive(1, 4, 5))
	check("reassigned", leader, nil, ok, 5, nil)
	leader, isr, ok = controller.ElectShutdown(r{1, 2, 3}, r{1, 2, 3}, alive(1, 2, 3), alive(1))
	check("shutdown", leader, isr, ok, 2, r{2, 3})
	leader, isr, ok = controller.ElectShutdown(r{1}, r{1}, alive(1), alive(1))
	check("shutdown, nobody else", leader, isr, ok, -1, nil)
}
