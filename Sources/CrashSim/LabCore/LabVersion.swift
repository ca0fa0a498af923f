// LabVersion.swift: the version of the lab, as the command and its reports name it.

/// The version of the lab.
public enum LabVersion {
  /// For example `0.1.0`.
  public static let text = "0.1.0"
}
