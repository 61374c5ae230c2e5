// Sources and gates live in VestaConcurrency and VestaTesting; this module goes when nobody imports it any more.
@_exported public import VestaListenerInterop
@_exported public import VestaTesting

/// A state and the listeners that hear of its changes.
public typealias FakeSource = StateSource
