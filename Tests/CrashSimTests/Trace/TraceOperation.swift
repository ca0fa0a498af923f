// TraceOperation.swift: the recording's operations by a name that Foundation has not taken.

import Recording

typealias TraceOperation = Operation
