// main.swift: `faultline-fs`, the process that serves one FaultFS mount; the lab starts it.

import FaultFS

FaultFSDaemon.main(CommandLine.arguments)
