// Notes.java: every acknowledged note is there. Try it:
//   javac -d /tmp/notes Notes.java FaultlineCheck.java
//   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' \
//     --check-loop 'java -cp /tmp/notes Notes'
import java.nio.file.Files;
import java.util.List;

public final class Notes {
  public static void main(String[] arguments) throws Exception {
    FaultlineCheck.loop(
        (directory, output) -> {
          List<String> there = Files.readAllLines(directory.resolve("notes"));
          for (String number : Files.readAllLines(output)) {
            if (!there.contains("note " + number)) {
              return "note " + number + " was acknowledged and is lost";
            }
          }
          return null;
        });
  }
}
