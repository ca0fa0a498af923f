// main.swift: `faultline-fs`, the process that serves one FaultFS mount; started by Faultline.

import FaultFS

FaultFSDaemon.main(CommandLine.arguments)
